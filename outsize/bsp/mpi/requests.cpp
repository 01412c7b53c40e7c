// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include "requests.hpp"

#include <string.h>

#include "exposed_items.hpp"

namespace outsize::bsp::mpi {

namespace {

constexpr std::uint64_t any_number = ~std::uint64_t{0};

handle_table<request, MPI_Request, handle_kind::request> requests;

/// The receives under way, in the order of their starts; each keeps its request.
request** receiving = nullptr;
int receiving_count = 0, receiving_room = 0;
int freed_count = 0;  // receives that have no handle any more

/// Shows the engine which receives are under way.
void show_receiving() {
  process::part* const posted = process::posted_of(*shared, rank_in_world);
  std::uint32_t count = 0;
  for (int i = 0; i < receiving_count; ++i) {
    request const& one = *receiving[i];
    if (one.now != request::state::receiving) continue;
    posted[count++] = {
        .member = source_of(one.peer), .address = one.comm->group, .bytes = tag_of(one.tag)};
  }
  control->posted_count = count;
}

void note_receiving(request& one, char const* call) {
  if (receiving_count == receiving_room) {
    receiving_room = receiving_room == 0 ? 16 : 2 * receiving_room;
    void* const moved =
        ::realloc(receiving, static_cast<std::size_t>(receiving_room) * sizeof(request*));
    if (moved == nullptr) refuse("%s: no memory for requests", call);
    receiving = static_cast<request**>(moved);
  }
  if (static_cast<std::uint64_t>(receiving_count) == shared->posted_capacity) {
    refuse("%s: more than %d receives under way", call, receiving_count);
  }
  ++one.references;
  one.now = request::state::receiving;
  receiving[receiving_count++] = &one;
  show_receiving();
}

/// Receives a message that is there.
void receive_now(request& one) {
  incoming_items const into(one.data(), "MPI_Recv");
  ask(call::receive, one.comm->group, source_of(one.peer), tag_of(one.tag), into.address(),
      into.bytes());
  std::uint64_t const bytes = control->results[3];
  fill_status(&one.status, static_cast<int>(control->results[1]),
              static_cast<int>(control->results[2]), bytes);
  one.now = request::state::done;
  show_receiving();  // before memory is freed, which is a call too
  into.finish(bytes);
}

/// Takes those that are done out of the list.
void forget_received() {
  int left = 0;
  for (int i = 0; i < receiving_count; ++i) {
    request& one = *receiving[i];
    if (one.now == request::state::receiving) {
      receiving[left++] = &one;
      continue;
    }
    if (one.references == 1) --freed_count;
    release(one);
  }
  receiving_count = left;
  show_receiving();
}

}  // namespace

std::uint64_t source_of(int source) {
  return source == MPI_ANY_SOURCE ? any_number : static_cast<std::uint64_t>(source);
}
std::uint64_t tag_of(int tag) {
  return tag == MPI_ANY_TAG ? any_number : static_cast<std::uint64_t>(tag);
}

void check_source(communicator const& comm, int source, int tag, char const* call) {
  if (source != MPI_ANY_SOURCE && source != MPI_PROC_NULL) rank_in(comm, source, call);
  if (tag != MPI_ANY_TAG && tag < 0) refuse("%s: %d is not a tag", call, tag);
}

// ---- messages ----

namespace {

request make_request(items const& data, int peer, int tag, communicator& comm) {
  request one;
  one.comm = kept<communicator>(comm);
  one.type = kept<datatype>(const_cast<datatype&>(*data.type));
  one.buffer = data.buffer;
  one.count = data.count;
  one.peer = peer;
  one.tag = tag;
  return one;
}

void start_send(request& one, char const* call) {
  one.now = request::state::done;
  fill_status(&one.status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  if (one.peer == MPI_PROC_NULL) return;
  outgoing_items const from(one.data(), call);
  one.receipt = ask(call::send, one.comm->group, one.peer, one.tag, from.address(), from.bytes(),
                    one.waits_for_match ? 1 : 0, one.comm->rank);
  if (one.receipt != 0) one.now = request::state::synchronous;
}

}  // namespace

request make_send(items const& from, int to, int tag, MPI_Comm comm, char const* call) {
  communicator& mine = communicator_of(comm, call);
  if (tag < 0) refuse("%s: %d is not a tag", call, tag);
  if (to != MPI_PROC_NULL) rank_in(mine, to, call);
  request made = make_request(from, to, tag, mine);
  made.sends = true;
  return made;
}

request make_receive(items const& into, int source, int tag, MPI_Comm comm, char const* call) {
  communicator& mine = communicator_of(comm, call);
  check_source(mine, source, tag, call);
  return make_request(into, source, tag, mine);
}

void start(request& one, char const* call) {
  if (one.sends) return start_send(one, call);
  if (one.peer != MPI_PROC_NULL) return note_receiving(one, call);
  one.now = request::state::done;
  fill_status(&one.status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}

void match_receives() {
  while (receiving_count != 0) {
    ask(call::match);
    std::uint32_t const count = control->part_count;
    if (count == 0) return;
    request* found[64];
    std::uint32_t const some = count < 64 ? count : 64;
    process::part const* const parts = process::parts_of(*shared, rank_in_world);
    for (std::uint32_t i = 0; i < some; ++i) found[i] = receiving[parts[i].member];
    for (std::uint32_t i = 0; i < some; ++i) receive_now(*found[i]);
    forget_received();
  }
}

void match_freed_receives() {
  if (freed_count != 0) match_receives();
}

// ---- handles ----

request& request_of(MPI_Request handle, char const* call) {
  request* const found = requests.find(handle);
  if (found == nullptr) refuse("%s: %p is not a request", call, static_cast<void*>(handle));
  return *found;
}

MPI_Request add_request(request& made) { return requests.add(made); }

MPI_Request add_request(started&& operation) {
  request& one = make<request>();
  one.now = operation.is_over() ? request::state::done : request::state::collective;
  fill_status(&one.status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  one.operation = kept<started>::take(make<started>(std::move(operation)));
  return requests.add(one);
}

void remove_request(MPI_Request* handle) {
  request& left = requests.remove(*handle);
  *handle = MPI_REQUEST_NULL;
  if (left.now == request::state::receiving) ++freed_count;
  release(left);
}

void fill_status(MPI_Status* status, int source, int tag, std::uint64_t bytes) noexcept {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  ::memcpy(status->MPI_internal, &bytes, sizeof bytes);
}

std::uint64_t length_in(MPI_Status const& status) noexcept {
  std::uint64_t bytes = 0;
  ::memcpy(&bytes, status.MPI_internal, sizeof bytes);
  return bytes;
}

}  // namespace outsize::bsp::mpi
