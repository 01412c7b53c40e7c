// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Messages between two ranks.

#include "both_forms.hpp"
#include "child.hpp"
#include "requests.hpp"

namespace outsize::bsp::mpi {

namespace {

void send(items const& from, int to, int tag, MPI_Comm comm, bool waits_for_match,
          char const* call) {
  request one = make_send(from, to, tag, comm, call);
  one.waits_for_match = waits_for_match;
  start(one, call);
  if (one.now == request::state::synchronous) ask(call::wait_taken, one.receipt, 1);
}

void receive(items const& into, int source, int tag, MPI_Comm comm, MPI_Status* status,
             char const* call) {
  request one = make_receive(into, source, tag, comm, call);
  start(one, call);
  wait(one);
  fill_status(status, one.status.MPI_SOURCE, one.status.MPI_TAG, length_in(one.status));
}

MPI_Request begin(request&& made, char const* call) {
  request& one = make<request>(std::move(made));
  start(one, call);
  return add_request(one);
}

MPI_Request begin_synchronous(request&& made, char const* call) {
  made.waits_for_match = true;
  return begin(std::move(made), call);
}

MPI_Request make_persistent(request&& made) {
  made.is_persistent = true;
  return add_request(make<request>(std::move(made)));
}

/// The send copies its bytes before a message can come for the receive.
void send_and_receive(items const& from, int to, int out_tag, items const& into, int source,
                      int in_tag, MPI_Comm comm, MPI_Status* status, char const* call) {
  request in = make_receive(into, source, in_tag, comm, call);
  request out = make_send(from, to, out_tag, comm, call);
  start(in, call);
  start(out, call);
  wait(in);
  fill_status(status, in.status.MPI_SOURCE, in.status.MPI_TAG, length_in(in.status));
}

/// Looks for a message, or waits for one. Returns false: there is none.
bool find(int source, int tag, MPI_Comm comm, bool waits, MPI_Status* status, char const* call) {
  communicator const& mine = communicator_of(comm, call);
  check_source(mine, source, tag, call);
  if (source == MPI_PROC_NULL) {
    fill_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return true;
  }
  match_receives();
  if (ask(call::find, mine.group, source_of(source), tag_of(tag), waits ? 1 : 0) == 0) {
    return false;
  }
  fill_status(status, static_cast<int>(control->results[1]), static_cast<int>(control->results[2]),
              control->results[3]);
  return true;
}

}  // namespace

}  // namespace outsize::bsp::mpi

using namespace outsize::bsp::mpi;  // NOLINT(google-build-using-namespace)

extern "C" {

#define PARAMETERS(COUNT, PLACE, BYTES) \
  (void const* buf, COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
OUTSIZE_MPI_BOTH(Send, PARAMETERS,
                 send(items_of(buf, count, datatype, call), dest, tag, comm, false, call))
OUTSIZE_MPI_BOTH(Rsend, PARAMETERS,
                 send(items_of(buf, count, datatype, call), dest, tag, comm, false, call))
OUTSIZE_MPI_BOTH(Ssend, PARAMETERS,
                 send(items_of(buf, count, datatype, call), dest, tag, comm, true, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES)                                                   \
  (void const* buf, COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, \
   MPI_Request* request)
OUTSIZE_MPI_BOTH(
    Isend, PARAMETERS,
    *request = begin(make_send(items_of(buf, count, datatype, call), dest, tag, comm, call), call))
OUTSIZE_MPI_BOTH(Issend, PARAMETERS,
                 *request = begin_synchronous(make_send(items_of(buf, count, datatype, call), dest,
                                                        tag, comm, call),
                                              call))
OUTSIZE_MPI_BOTH(Send_init, PARAMETERS,
                 *request = make_persistent(make_send(items_of(buf, count, datatype, call), dest,
                                                      tag, comm, call)))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES)                                               \
  (void* buf, COUNT count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, \
   MPI_Status* status)
OUTSIZE_MPI_BOTH(Recv, PARAMETERS,
                 receive(items_of(buf, count, datatype, call), source, tag, comm, status, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES)                                               \
  (void* buf, COUNT count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, \
   MPI_Request* request)
OUTSIZE_MPI_BOTH(Irecv, PARAMETERS,
                 *request = begin(make_receive(items_of(buf, count, datatype, call), source, tag,
                                               comm, call),
                                  call))
OUTSIZE_MPI_BOTH(Recv_init, PARAMETERS,
                 *request = make_persistent(make_receive(items_of(buf, count, datatype, call),
                                                         source, tag, comm, call)))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES)                                                           \
  (void const* sendbuf, COUNT sendcount, MPI_Datatype sendtype, int dest, int sendtag,            \
   void* recvbuf, COUNT recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, \
   MPI_Status* status)
OUTSIZE_MPI_BOTH(Sendrecv, PARAMETERS,
                 send_and_receive(items_of(sendbuf, sendcount, sendtype, call), dest, sendtag,
                                  items_of(recvbuf, recvcount, recvtype, call), source, recvtag,
                                  comm, status, call))
#undef PARAMETERS

#define PARAMETERS(COUNT, PLACE, BYTES)                                                           \
  (void* buf, COUNT count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, \
   MPI_Comm comm, MPI_Status* status)
OUTSIZE_MPI_BOTH(Sendrecv_replace, PARAMETERS,
                 send_and_receive(items_of(buf, count, datatype, call), dest, sendtag,
                                  items_of(buf, count, datatype, call), source, recvtag, comm,
                                  status, call))
#undef PARAMETERS

// ---- messages that have come ----

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  check_started("MPI_Iprobe");
  begin_poll();
  *flag = find(source, tag, comm, false, status, "MPI_Iprobe") ? 1 : 0;
  if (*flag == 0) note_vain_poll();
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Iprobe)

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  find(source, tag, comm, true, status, "MPI_Probe");
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
  auto const size = static_cast<std::uint64_t>(type_of(datatype, "MPI_Get_count").size);
  std::uint64_t const bytes = length_in(*status);
  if (size == 0) {
    *count = bytes == 0 ? 0 : MPI_UNDEFINED;
  } else {
    *count = bytes % size != 0 ? MPI_UNDEFINED : static_cast<MPI_Count>(bytes / size);
  }
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Get_count)

}  // extern "C"
