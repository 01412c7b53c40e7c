// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Messages between two ranks, and requests.
//
// A send copies its bytes at the call. Receives under way are matched, in the order of their calls,
// when the rank asks for one of them or receives another way: until then messages wait in the
// store.

#include <stdlib.h>

#include "child.hpp"
#include "handles.hpp"
#include "pmpi_aliases.inc"

namespace outsize::bsp::mpi {

namespace {

constexpr std::uint64_t any_number = ~std::uint64_t{0};

/// The receives under way, in the order of their calls.
MPI_Request* receiving = nullptr;
int receiving_count = 0, receiving_room = 0;

void show_receiving();

void note_receiving(MPI_Request handle) {
  if (receiving_count == receiving_room) {
    receiving_room = receiving_room == 0 ? 16 : 2 * receiving_room;
    void* const moved =
        ::realloc(receiving, static_cast<std::size_t>(receiving_room) * sizeof(MPI_Request));
    if (moved == nullptr) refuse("no memory for requests");
    receiving = static_cast<MPI_Request*>(moved);
  }
  if (static_cast<std::uint64_t>(receiving_count) == shared->posted_capacity) {
    refuse("MPI_Irecv: more than %d receives under way", receiving_count);
  }
  receiving[receiving_count++] = handle;
  show_receiving();
}

std::uint64_t source_of(int source) {
  return source == MPI_ANY_SOURCE ? any_number : static_cast<std::uint64_t>(source);
}
std::uint64_t tag_of(int tag) {
  return tag == MPI_ANY_TAG ? any_number : static_cast<std::uint64_t>(tag);
}

void check_source(communicator const& comm, int source, int tag, char const* call) {
  if (source != MPI_ANY_SOURCE) rank_in(comm, source, call);
  if (tag != MPI_ANY_TAG && tag < 0) refuse("%s: %d is not a tag", call, tag);
}

std::uint64_t send(void const* buffer, std::int64_t count, MPI_Datatype type, int to, int tag,
                   MPI_Comm comm, bool is_synchronous, char const* call) {
  communicator& mine = communicator_of(comm, call);
  std::uint64_t const bytes = bytes_of(count, type, call);
  if (tag < 0) refuse("%s: %d is not a tag", call, tag);
  if (to == MPI_PROC_NULL) return 0;
  rank_in(mine, to, call);
  exposed const from(buffer, bytes);
  return ask(call::send, mine.group, to, tag, from.address(), bytes, is_synchronous ? 1 : 0,
             mine.rank);
}

/// Shows the engine which receives are under way.
void show_receiving() {
  outsize::bsp::process::part* const posted =
      outsize::bsp::process::posted_of(*shared, rank_in_world);
  std::uint32_t count = 0;
  for (int i = 0; i < receiving_count && count < shared->posted_capacity; ++i) {
    request const& one = request_of(receiving[i], "MPI_Wait");
    if (one.now != request::state::receiving) continue;
    posted[count++] = {
        .member = source_of(one.source), .address = one.group, .bytes = tag_of(one.tag)};
  }
  control->posted_count = count;
}

/// Receives a message that is there, or waits for it.
void receive_now(request& one) {
  exposed into(one.into, one.most_bytes, true);
  ask(call::receive, one.group, source_of(one.source), tag_of(one.tag), into.address(),
      one.most_bytes);
  std::uint64_t const bytes = control->results[3];
  fill_status(&one.status, static_cast<int>(control->results[1]),
              static_cast<int>(control->results[2]), bytes);
  one.now = request::state::done;
  show_receiving();  // before memory is freed, which is a call too
  into.finish(bytes);
}

/// Matches the receives under way with the messages that have come: those at one moment, as others
/// may come meanwhile, and belong to the first receive that wants them.
void match() {
  for (;;) {
    if (receiving_count == 0) return;
    ask(call::match);
    std::uint32_t const count = control->part_count;
    if (count == 0) return;
    MPI_Request found[64];
    std::uint32_t const some = count < 64 ? count : 64;
    outsize::bsp::process::part const* const parts =
        outsize::bsp::process::parts_of(*shared, rank_in_world);
    for (std::uint32_t i = 0; i < some; ++i) found[i] = receiving[parts[i].member];
    for (std::uint32_t i = 0; i < some; ++i) receive_now(request_of(found[i], "MPI_Wait"));
    int left = 0;
    for (int i = 0; i < receiving_count; ++i) {
      if (request_of(receiving[i], "MPI_Wait").now == request::state::receiving) {
        receiving[left++] = receiving[i];
      }
    }
    receiving_count = left;
    show_receiving();
  }
}

bool is_done(request& one) {
  if (one.now == request::state::synchronous && ask(call::wait_taken, one.receipt, 0) != 0) {
    one.now = request::state::done;
  }
  return one.now == request::state::done;
}

/// Waits until one of the synchronous sends has ended, or a message has come for a receive under
/// way.
void wait_for_some(int count, MPI_Request const* requests) {
  outsize::bsp::process::part* const parts =
      outsize::bsp::process::parts_of(*shared, rank_in_world);
  std::uint32_t receipts = 0;
  for (int i = 0; i < count && receipts < shared->part_capacity; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    request const& one = request_of(requests[i], "MPI_Wait");
    if (one.now == request::state::synchronous) parts[receipts++].member = one.receipt;
  }
  control->part_count = receipts;
  ask(call::wait_any);
}

void finish(MPI_Request* handle, MPI_Status* status) {
  request const& one = request_of(*handle, "MPI_Wait");
  if (status != MPI_STATUS_IGNORE) {
    fill_status(status, one.status.MPI_SOURCE, one.status.MPI_TAG, length_in(one.status));
  }
  remove_request(*handle);
  *handle = MPI_REQUEST_NULL;
}

void fill_empty(MPI_Status* status) {
  fill_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = MPI_SUCCESS;
}

/// The first request that has ended; -1: none; -2: there is none under way.
int first_done(int count, MPI_Request const* requests) {
  match();
  bool is_any = false;
  for (int i = 0; i < count; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    is_any = true;
    if (is_done(request_of(requests[i], "MPI_Wait"))) return i;
  }
  return is_any ? -1 : -2;
}

MPI_Status* status_at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

/// Vain polls one after the other, with little computing between them.
int vain_polls = 0;
double last_poll = 0;

void begin_poll() {
  constexpr double most_seconds_between = 50e-6;
  if (PMPI_Wtime() - last_poll > most_seconds_between) vain_polls = 0;
}

/// A rank that polls in vain time and again lets others run.
void note_vain_poll() {
  if (++vain_polls == 64) {
    vain_polls = 0;
    ask(call::yield);
  }
  last_poll = PMPI_Wtime();
}

int add_receive(void* buffer, std::int64_t count, MPI_Datatype type, int source, int tag,
                MPI_Comm comm, MPI_Request* made, char const* call) {
  communicator& mine = communicator_of(comm, call);
  request one = {.now = request::state::receiving,
                 .receipt = 0,
                 .group = mine.group,
                 .into = buffer,
                 .most_bytes = bytes_of(count, type, call),
                 .source = source,
                 .tag = tag,
                 .status = {}};
  if (source == MPI_PROC_NULL) {
    one.now = request::state::done;
    fill_status(&one.status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  } else {
    check_source(mine, source, tag, call);
  }
  *made = add_request(one);
  if (one.now == request::state::receiving) note_receiving(*made);
  return MPI_SUCCESS;
}

int add_send(std::uint64_t receipt, MPI_Request* made) {
  request one = {};
  one.now = receipt != 0 ? request::state::synchronous : request::state::done;
  one.receipt = receipt;
  fill_status(&one.status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  *made = add_request(one);
  return MPI_SUCCESS;
}

int receive(void* buffer, std::int64_t count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
            MPI_Status* status, char const* call) {
  MPI_Request made;
  add_receive(buffer, count, type, source, tag, comm, &made, call);
  return PMPI_Wait(&made, status);
}

int exchange(void const* out, std::int64_t out_count, MPI_Datatype out_type, int to, int out_tag,
             void* in, std::int64_t in_count, MPI_Datatype in_type, int source, int in_tag,
             MPI_Comm comm, MPI_Status* status) {
  MPI_Request made;
  add_receive(in, in_count, in_type, source, in_tag, comm, &made, "MPI_Sendrecv");
  send(out, out_count, out_type, to, out_tag, comm, false, "MPI_Sendrecv");
  return PMPI_Wait(&made, status);
}

}  // namespace

}  // namespace outsize::bsp::mpi

using namespace outsize::bsp::mpi;  // NOLINT(google-build-using-namespace)

extern "C" {

#define OUTSIZE_MPI_SEND(NAME, COUNT)                                                     \
  int PMPI_##NAME(void const* buf, COUNT count, MPI_Datatype datatype, int dest, int tag, \
                  MPI_Comm comm)

OUTSIZE_MPI_SEND(Send, int) {
  send(buf, count, datatype, dest, tag, comm, false, "MPI_Send");
  return MPI_SUCCESS;
}
OUTSIZE_MPI_SEND(Send_c, MPI_Count) {
  send(buf, count, datatype, dest, tag, comm, false, "MPI_Send_c");
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Send)

OUTSIZE_MPI_SEND(Ssend, int) {
  std::uint64_t const receipt = send(buf, count, datatype, dest, tag, comm, true, "MPI_Ssend");
  if (receipt != 0) ask(call::wait_taken, receipt, 1);
  return MPI_SUCCESS;
}
OUTSIZE_MPI_SEND(Ssend_c, MPI_Count) {
  std::uint64_t const receipt = send(buf, count, datatype, dest, tag, comm, true, "MPI_Ssend_c");
  if (receipt != 0) ask(call::wait_taken, receipt, 1);
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Ssend)

#undef OUTSIZE_MPI_SEND
#define OUTSIZE_MPI_SEND(NAME, COUNT)                                                     \
  int PMPI_##NAME(void const* buf, COUNT count, MPI_Datatype datatype, int dest, int tag, \
                  MPI_Comm comm, MPI_Request* request)

OUTSIZE_MPI_SEND(Isend, int) {
  send(buf, count, datatype, dest, tag, comm, false, "MPI_Isend");
  return add_send(0, request);
}
OUTSIZE_MPI_SEND(Isend_c, MPI_Count) {
  send(buf, count, datatype, dest, tag, comm, false, "MPI_Isend_c");
  return add_send(0, request);
}
OUTSIZE_MPI_WEAK(Isend)

OUTSIZE_MPI_SEND(Issend, int) {
  return add_send(send(buf, count, datatype, dest, tag, comm, true, "MPI_Issend"), request);
}
OUTSIZE_MPI_SEND(Issend_c, MPI_Count) {
  return add_send(send(buf, count, datatype, dest, tag, comm, true, "MPI_Issend_c"), request);
}
OUTSIZE_MPI_WEAK(Issend)
#undef OUTSIZE_MPI_SEND

int PMPI_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Status* status) {
  return receive(buf, count, datatype, source, tag, comm, status, "MPI_Recv");
}
int PMPI_Recv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                MPI_Comm comm, MPI_Status* status) {
  return receive(buf, count, datatype, source, tag, comm, status, "MPI_Recv_c");
}
OUTSIZE_MPI_WEAK(Recv)

int PMPI_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
               MPI_Request* request) {
  return add_receive(buf, count, datatype, source, tag, comm, request, "MPI_Irecv");
}
int PMPI_Irecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                 MPI_Comm comm, MPI_Request* request) {
  return add_receive(buf, count, datatype, source, tag, comm, request, "MPI_Irecv_c");
}
OUTSIZE_MPI_WEAK(Irecv)

int PMPI_Sendrecv(void const* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                  void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                  MPI_Comm comm, MPI_Status* status) {
  return exchange(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                  recvtag, comm, status);
}
int PMPI_Sendrecv_c(void const* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                    int sendtag, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                    int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  return exchange(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                  recvtag, comm, status);
}
OUTSIZE_MPI_WEAK(Sendrecv)

// ---- requests ----

int PMPI_Waitany(int count, MPI_Request array_of_requests[], int* index, MPI_Status* status) {
  check_started("MPI_Waitany");
  for (;;) {
    int const found = first_done(count, array_of_requests);
    if (found == -1) {
      wait_for_some(count, array_of_requests);
      continue;
    }
    *index = found == -2 ? MPI_UNDEFINED : found;
    if (found == -2) {
      fill_empty(status);
    } else {
      finish(array_of_requests + found, status);
    }
    return MPI_SUCCESS;
  }
}
OUTSIZE_MPI_WEAK(Waitany)

int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  int index = 0;
  return PMPI_Waitany(1, request, &index, status);
}
OUTSIZE_MPI_WEAK(Wait)

int PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]) {
  for (int i = 0; i < count; ++i) {
    PMPI_Wait(array_of_requests + i, status_at(array_of_statuses, i));
  }
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Waitall)

int PMPI_Testany(int count, MPI_Request array_of_requests[], int* index, int* flag,
                 MPI_Status* status) {
  check_started("MPI_Testany");
  begin_poll();
  int const found = first_done(count, array_of_requests);
  *flag = found != -1;
  *index = found < 0 ? MPI_UNDEFINED : found;
  if (found == -1) note_vain_poll();
  if (found == -2) fill_empty(status);
  if (found >= 0) finish(array_of_requests + found, status);
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Testany)

int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  int index = 0;
  return PMPI_Testany(1, request, &index, flag, status);
}
OUTSIZE_MPI_WEAK(Test)

int PMPI_Testall(int count, MPI_Request array_of_requests[], int* flag,
                 MPI_Status array_of_statuses[]) {
  check_started("MPI_Testall");
  begin_poll();
  match();
  *flag = 1;
  for (int i = 0; i < count; ++i) {
    if (array_of_requests[i] == MPI_REQUEST_NULL) continue;
    if (!is_done(request_of(array_of_requests[i], "MPI_Testall"))) *flag = 0;
  }
  if (*flag == 0) {
    note_vain_poll();
    return MPI_SUCCESS;
  }
  for (int i = 0; i < count; ++i) {
    if (array_of_requests[i] == MPI_REQUEST_NULL) {
      fill_empty(status_at(array_of_statuses, i));
    } else {
      finish(array_of_requests + i, status_at(array_of_statuses, i));
    }
  }
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Testall)

// ---- messages that have come ----

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  communicator& mine = communicator_of(comm, "MPI_Iprobe");
  begin_poll();
  *flag = 1;
  if (source == MPI_PROC_NULL) {
    fill_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return MPI_SUCCESS;
  }
  check_source(mine, source, tag, "MPI_Iprobe");
  match();
  *flag = ask(call::find, mine.group, source_of(source), tag_of(tag), 0) != 0;
  if (*flag == 0) {
    note_vain_poll();
  } else {
    fill_status(status, static_cast<int>(control->results[1]),
                static_cast<int>(control->results[2]), control->results[3]);
  }
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Iprobe)

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  communicator& mine = communicator_of(comm, "MPI_Probe");
  if (source == MPI_PROC_NULL) {
    fill_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return MPI_SUCCESS;
  }
  check_source(mine, source, tag, "MPI_Probe");
  match();
  ask(call::find, mine.group, source_of(source), tag_of(tag), 1);
  fill_status(status, static_cast<int>(control->results[1]), static_cast<int>(control->results[2]),
              control->results[3]);
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Probe)

int PMPI_Get_count(MPI_Status const* status, MPI_Datatype datatype, int* count) {
  MPI_Count items = 0;
  PMPI_Get_count_c(status, datatype, &items);
  *count = items > INT32_MAX ? MPI_UNDEFINED : static_cast<int>(items);
  return MPI_SUCCESS;
}
int PMPI_Get_count_c(MPI_Status const* status, MPI_Datatype datatype, MPI_Count* count) {
  std::uint64_t const size = size_of(datatype, "MPI_Get_count");
  std::uint64_t const bytes = length_in(*status);
  *count = bytes % size != 0 ? MPI_UNDEFINED : static_cast<MPI_Count>(bytes / size);
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Get_count)

}  // extern "C"
