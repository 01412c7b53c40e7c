// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Steps of the random program: matched patterns of messages, each with several ways to send, to
// receive and to wait. Results are folded in the order of ranks. A receive from any source has a
// tag of its own step, as a fast rank may already be in a later one.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "items.hpp"
#include "program.hpp"

namespace random_program {
namespace {

using send_call = int (*)(void const*, int, MPI_Datatype, int, int, MPI_Comm);
using isend_call = int (*)(void const*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

send_call draw_send(random_numbers& random) { return random.one_in(2) ? MPI_Send : MPI_Ssend; }
isend_call draw_isend(random_numbers& random) { return random.one_in(2) ? MPI_Isend : MPI_Issend; }

// Waits for one request, by blocking or polling.
void complete(MPI_Request& request, MPI_Status& status, random_numbers& random) {
  int done = 0;
  if (random.one_in(2)) {
    MPI_Wait(&request, &status);
  } else {
    while (!done) MPI_Test(&request, &done, &status);
  }
  check(request == MPI_REQUEST_NULL, "a completed request becomes null");
}

void complete_one_by_one(std::vector<MPI_Request>& requests, bool by_polling) {
  int count = static_cast<int>(requests.size());
  for (int completed = 0;; ++completed) {
    int index = 0, done = 0;
    MPI_Status status;
    while (by_polling && !done) MPI_Testany(count, requests.data(), &index, &done, &status);
    if (!by_polling) MPI_Waitany(count, requests.data(), &index, &status);
    check((index == MPI_UNDEFINED) == (completed == count), "every request completes once");
    if (index == MPI_UNDEFINED) return;
  }
}

// Waits for all requests, in one of four ways.
void complete_all(std::vector<MPI_Request>& requests, random_numbers& random) {
  int count = static_cast<int>(requests.size()), done = 0;
  switch (random.below(4)) {
    case 0:
      MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
      break;
    case 1:
      while (!done) MPI_Testall(count, requests.data(), &done, MPI_STATUSES_IGNORE);
      break;
    default:
      complete_one_by_one(requests, random.one_in(2));
  }
}

void check_status(MPI_Status const& status, item_type const& type, int source, int tag, int items) {
  int count = -1;
  MPI_Get_count(&status, type.handle, &count);
  check(status.MPI_SOURCE == source && status.MPI_TAG == tag, "a status names source and tag");
  check(count == items, "a status has the length");
}

// Where each rank of a random permutation sends, and from which one it receives.
struct partners {
  int to, from;
};

partners draw_partners(scene& s) {
  std::vector<int> permutation = s.group.permutation(s.on.size);
  partners result{permutation[static_cast<std::size_t>(s.on.rank)], 0};
  while (permutation[static_cast<std::size_t>(result.from)] != s.on.rank) ++result.from;
  return result;
}

void permute_by_sendrecv(scene& s) {
  item_type const& type = draw_type(s.group);
  partners with = draw_partners(s);
  pair_items lengths(s, false);
  int tag = s.own_tag(), slack = s.group.below(3);
  buffer sent(type, lengths.between(s.on.rank, with.to));
  int count = lengths.between(with.from, s.on.rank);
  buffer received(type, count + slack);
  sent.fill(s.data());
  unchanged watch(sent);
  MPI_Status status;
  int source = s.group.one_in(3) ? MPI_ANY_SOURCE : with.from;
  MPI_Sendrecv(sent.data(), sent.items(), type.handle, with.to, tag, received.data(),
               received.items(), type.handle, source, tag, s.on.handle, &status);
  check_status(status, type, with.from, tag, count);
  layout got;
  got.counts = {count};
  got.places = {0};
  received.check_gaps(got);
  s.of.fold(received.hash(0, count));
}

// One side of each message does not block.
void permute_without_blocking(scene& s) {
  item_type const& type = draw_type(s.group);
  partners with = draw_partners(s);
  pair_items lengths(s, false);
  int tag = s.group.below(1000), count = lengths.between(with.from, s.on.rank);
  bool sends_first = s.group.one_in(2);
  buffer sent(type, lengths.between(s.on.rank, with.to)), received(type, count);
  sent.fill(s.data());
  unchanged watch(sent);
  MPI_Request request;
  MPI_Status status, ignored;
  if (sends_first) {
    draw_isend(s.of.own)(sent.data(), sent.items(), type.handle, with.to, tag, s.on.handle,
                         &request);
    MPI_Recv(received.data(), count, type.handle, with.from, tag, s.on.handle, &status);
    complete(request, ignored, s.of.own);
  } else {
    MPI_Irecv(received.data(), count, type.handle, with.from, tag, s.on.handle, &request);
    draw_send(s.of.own)(sent.data(), sent.items(), type.handle, with.to, tag, s.on.handle);
    complete(request, status, s.of.own);
  }
  check_status(status, type, with.from, tag, count);
  s.of.fold(received.hash());
}

// Messages between about half of all pairs, all in flight at once.
void messages_of_pairs(scene& s) {
  item_type const& type = draw_type(s.group);
  pair_items lengths(s, false);
  int tag = s.group.below(1000);
  std::deque<buffer> sent, received;
  std::vector<MPI_Request> requests;
  auto exchanges = [&](int from, int to) { return lengths.between(from, to) % 2 == 1; };
  for (int other = 0; other < s.on.size; ++other) {
    if (!exchanges(other, s.on.rank)) continue;
    buffer& b = received.emplace_back(type, lengths.between(other, s.on.rank));
    MPI_Irecv(b.data(), b.items(), type.handle, other, tag, s.on.handle, &requests.emplace_back());
  }
  for (int other : s.of.own.permutation(s.on.size)) {
    if (!exchanges(s.on.rank, other)) continue;
    buffer& b = sent.emplace_back(type, lengths.between(s.on.rank, other));
    b.fill(random_numbers(s.data().next() + static_cast<std::uint64_t>(other)));
    draw_isend(s.of.own)(b.data(), b.items(), type.handle, other, tag, s.on.handle,
                         &requests.emplace_back());
  }
  complete_all(requests, s.of.own);
  for (buffer const& b : received) s.of.fold(b.hash());
}

// A word goes from rank to rank in a random order; each one changes it.
void relay(scene& s) {
  std::vector<int> order = s.group.permutation(s.on.size);
  std::size_t place = 0;
  while (order[place] != s.on.rank) ++place;
  std::uint64_t word = 0;
  int tag = s.group.below(1000);
  if (place > 0)
    MPI_Recv(&word, 1, MPI_UINT64_T, order[place - 1], tag, s.on.handle, MPI_STATUS_IGNORE);
  s.of.fold(word);
  word = mix(word ^ s.of.state);
  if (place + 1 < order.size())
    draw_send(s.group)(&word, 1, MPI_UINT64_T, order[place + 1], tag, s.on.handle);
}

// Finds a message from any rank, by waiting or polling for it, and receives it. Returns its source.
int receive_probed(scene& s, item_type const& type, std::uint64_t& hash) {
  MPI_Status status;
  int found = 0, count = 0, tag = s.own_tag();
  if (s.of.own.one_in(2)) {
    MPI_Probe(MPI_ANY_SOURCE, tag, s.on.handle, &status);
  } else {
    while (!found) MPI_Iprobe(MPI_ANY_SOURCE, tag, s.on.handle, &found, &status);
  }
  MPI_Get_count(&status, type.handle, &count);
  buffer received(type, count);
  MPI_Recv(received.data(), count, type.handle, status.MPI_SOURCE, tag, s.on.handle, &status);
  hash = received.hash();
  return status.MPI_SOURCE;
}

int receive_any(scene& s, item_type const& type, int most, std::uint64_t& hash) {
  MPI_Status status;
  int count = 0;
  buffer received(type, most);
  MPI_Recv(received.data(), most, type.handle, MPI_ANY_SOURCE, s.own_tag(), s.on.handle, &status);
  MPI_Get_count(&status, type.handle, &count);
  hash = received.hash(0, count);
  return status.MPI_SOURCE;
}

// All ranks but one send to that one, which takes the messages as they come.
void fan_in(scene& s) {
  item_type const& type = draw_type(s.group);
  int root = s.group.below(s.on.size), most = 0;
  pair_items lengths(s, false);
  if (s.on.rank != root) {
    buffer sent(type, lengths.between(s.on.rank, root));
    sent.fill(s.data());
    draw_send(s.of.own)(sent.data(), sent.items(), type.handle, root, s.own_tag(), s.on.handle);
    return;
  }
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(s.on.size));
  for (int count : lengths.to_rank(root)) most = count > most ? count : most;
  bool probes = s.of.own.one_in(2);
  for (int i = 1; i < s.on.size; ++i) {
    std::uint64_t hash = 0;
    int source = probes ? receive_probed(s, type, hash) : receive_any(s, type, most, hash);
    check(source >= 0 && source < s.on.size && source != root, "the source is a rank");
    hashes[static_cast<std::size_t>(source)] += hash;
  }
  for (std::uint64_t hash : hashes) s.of.fold(hash);
}

[[maybe_unused]] bool const added = add_steps({
    {"fan_in", 1, 4, fan_in},
    {"messages_of_pairs", 1, 6, messages_of_pairs},
    {"permute_by_sendrecv", 1, 4, permute_by_sendrecv},
    {"permute_without_blocking", 1, 5, permute_without_blocking},
    {"relay", 1, 2, relay},
});

}  // namespace
}  // namespace random_program
