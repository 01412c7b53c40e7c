// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Steps of level 2 of the random program: messages and collectives of derived types, which differ
// between sender and receiver and have the same items, and packed messages.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "derived_type.hpp"
#include "items.hpp"
#include "program.hpp"

namespace random_program {
namespace {

// Two types over the same basic one, and copies of each that have equally many items.
struct matching_types {
  item_type const& base;
  derived_type sent, received;
  int sent_copies, received_copies;

  explicit matching_types(scene& s)
      : base(draw_number_type(s.group)), sent(base, s.group), received(base, s.group) {
    int times = 1 + s.group.below(2);
    sent_copies = times * received.items();
    received_copies = times * sent.items();
  }
};

void derived_sendrecv(scene& s) {
  matching_types types(s);
  int distance = s.group.below(s.on.size), tag = s.group.below(1000);
  int to = (s.on.rank + distance) % s.on.size;
  int from = (s.on.rank + s.on.size - distance) % s.on.size;
  derived_buffer sent(types.sent, types.sent_copies);
  derived_buffer received(types.received, types.received_copies);
  sent.fill(s.data());
  MPI_Status status;
  MPI_Sendrecv(sent.data(), sent.copies(), types.sent.handle(), to, tag, received.data(),
               received.copies(), types.received.handle(), from, tag, s.on.handle, &status);
  int copies = 0, items = 0;
  MPI_Get_count(&status, types.received.handle(), &copies);
  MPI_Get_count(&status, types.base.handle, &items);
  check(copies == received.copies() && items == copies * types.received.items(),
        "a length counts derived or basic items");
  received.check_gaps();
  s.of.fold(received.hash());
}

void derived_bcast(scene& s) {
  matching_types types(s);
  int root = s.group.below(s.on.size);
  bool is_root = root == s.on.rank;
  derived_type const& mine = is_root ? types.sent : types.received;
  derived_buffer data(mine, is_root ? types.sent_copies : types.received_copies);
  if (is_root) data.fill(s.data());
  MPI_Bcast(data.data(), data.copies(), mine.handle(), root, s.on.handle);
  data.check_gaps();
  s.of.fold(data.hash());
}

// Every rank's block follows the one before it at a distance of its copies.
void derived_allgather(scene& s) {
  matching_types types(s);
  derived_buffer mine(types.sent, types.sent_copies);
  derived_buffer all(types.received, types.received_copies * s.on.size);
  mine.fill(s.data());
  MPI_Allgather(mine.data(), mine.copies(), types.sent.handle(), all.data(), types.received_copies,
                types.received.handle(), s.on.handle);
  all.check_gaps();
  s.of.fold(all.hash());
}

void derived_alltoall(scene& s) {
  matching_types types(s);
  derived_buffer sent(types.sent, types.sent_copies * s.on.size);
  derived_buffer received(types.received, types.received_copies * s.on.size);
  sent.fill(s.data());
  MPI_Alltoall(sent.data(), types.sent_copies, types.sent.handle(), received.data(),
               types.received_copies, types.received.handle(), s.on.handle);
  received.check_gaps();
  s.of.fold(received.hash());
}

void derived_gather(scene& s) {
  matching_types types(s);
  int root = s.group.below(s.on.size);
  bool is_root = root == s.on.rank;
  derived_buffer mine(types.sent, types.sent_copies);
  derived_buffer all(types.received, is_root ? types.received_copies * s.on.size : 0);
  mine.fill(s.data());
  MPI_Gather(mine.data(), mine.copies(), types.sent.handle(), is_root ? all.data() : nullptr,
             types.received_copies, types.received.handle(), root, s.on.handle);
  if (!is_root) return;
  all.check_gaps();
  s.of.fold(all.hash());
}

// Two variables by their addresses, as one message from MPI_BOTTOM.
void absolute_addresses(scene& s) {
  std::uint64_t word = s.data().next();
  std::vector<int> row(1 + static_cast<std::size_t>(s.group.below(100)));
  for (int& item : row) item = s.of.own.below(1 << 30);
  MPI_Aint places[2] = {0, 0};
  MPI_Get_address(&word, &places[0]);
  MPI_Get_address(row.data(), &places[1]);
  int lengths[2] = {1, static_cast<int>(row.size())}, root = s.group.below(s.on.size);
  MPI_Datatype types[2] = {MPI_UINT64_T, MPI_INT}, both;
  MPI_Type_create_struct(2, lengths, places, types, &both);
  MPI_Type_commit(&both);
  MPI_Bcast(MPI_BOTTOM, 1, both, root, s.on.handle);
  MPI_Type_free(&both);
  s.of.fold(word);
  for (int item : row) s.of.fold(static_cast<std::uint64_t>(item));
}

// Packs items of a derived and of a basic type into one message to the next rank.
void packed_message(scene& s) {
  matching_types types(s);
  derived_buffer sent(types.sent, types.sent_copies);
  sent.fill(s.data());
  std::uint64_t word = s.of.state;
  int bytes[2] = {0, 0}, position = 0, tag = s.group.below(1000), arrived = 0;
  MPI_Pack_size(1, MPI_UINT64_T, s.on.handle, &bytes[0]);
  MPI_Pack_size(sent.copies(), types.sent.handle(), s.on.handle, &bytes[1]);
  std::vector<std::byte> packed(static_cast<std::size_t>(bytes[0] + bytes[1]));
  int room = bytes[0] + bytes[1];
  MPI_Pack(&word, 1, MPI_UINT64_T, packed.data(), room, &position, s.on.handle);
  MPI_Pack(sent.data(), sent.copies(), types.sent.handle(), packed.data(), room, &position,
           s.on.handle);
  check(position <= room, "a packed message is no longer than predicted");

  MPI_Request request;
  MPI_Status status;
  int to = (s.on.rank + 1) % s.on.size, from = (s.on.rank + s.on.size - 1) % s.on.size;
  MPI_Isend(packed.data(), position, MPI_PACKED, to, tag, s.on.handle, &request);
  MPI_Probe(from, tag, s.on.handle, &status);
  MPI_Get_count(&status, MPI_PACKED, &arrived);
  std::vector<std::byte> message(static_cast<std::size_t>(arrived));
  MPI_Recv(message.data(), arrived, MPI_PACKED, from, tag, s.on.handle, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  position = 0;
  derived_buffer received(types.received, types.received_copies);
  MPI_Unpack(message.data(), arrived, &position, &word, 1, MPI_UINT64_T, s.on.handle);
  MPI_Unpack(message.data(), arrived, &position, received.data(), received.copies(),
             types.received.handle(), s.on.handle);
  check(position == arrived, "unpacking ends with the message");
  received.check_gaps();
  s.of.fold(word ^ received.hash());
}

[[maybe_unused]] bool const added = add_steps({
    {"absolute_addresses", 2, 1, absolute_addresses},
    {"derived_allgather", 2, 1, derived_allgather},
    {"derived_alltoall", 2, 2, derived_alltoall},
    {"derived_bcast", 2, 2, derived_bcast},
    {"derived_gather", 2, 1, derived_gather},
    {"derived_sendrecv", 2, 3, derived_sendrecv},
    {"packed_message", 2, 2, packed_message},
});

}  // namespace
}  // namespace random_program
