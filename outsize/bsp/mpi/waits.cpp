// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Waits for requests, tests of them, and their starts.

#include "child.hpp"
#include "pmpi_aliases.inc"
#include "requests.hpp"

namespace outsize::bsp::mpi {

namespace {

/// Returns true if one has ended; a collective operation then takes its parts.
bool is_done(request& one) {
  if (one.now == request::state::synchronous && ask(call::wait_taken, one.receipt, 0) != 0) {
    one.now = request::state::done;
  }
  if (one.now == request::state::collective) {
    started& all = *one.operation;
    if (ask(call::has_ended, all.comm().group, all.number(), all.parts()) != 0) {
      all.finish();
      one.now = request::state::done;
    }
  }
  return one.now == request::state::done;
}

/// Tells the engine of a request that may end otherwise than by a message.
void add_awaited(request const& one, std::uint32_t& count) {
  bool const is_message = one.now == request::state::synchronous;
  if (!is_message && one.now != request::state::collective) return;
  if (count == shared->part_capacity) refuse("MPI_Wait: more than %u requests", count);
  process::part& next = process::parts_of(*shared, rank_in_world)[count++];
  if (is_message) {
    next = {.member = one.receipt, .address = 0, .bytes = 0};
  } else {
    started const& all = *one.operation;
    next = {.member = all.number(),
            .address = all.comm().group + 1,
            .bytes = static_cast<std::uint64_t>(all.parts())};
  }
}

/// Waits until one of the requests has ended, or a message has come for a receive under way.
void wait_for_some(int count, MPI_Request const* all) {
  std::uint32_t awaited = 0;
  for (int i = 0; i < count; ++i) {
    if (all[i] != MPI_REQUEST_NULL) add_awaited(request_of(all[i], "MPI_Wait"), awaited);
  }
  control->part_count = awaited;
  ask(call::wait_any);
}

/// Returns true if a place of a list has a request that is under way.
bool is_active(MPI_Request handle, char const* call) {
  return handle != MPI_REQUEST_NULL && request_of(handle, call).now != request::state::inactive;
}

void finish(MPI_Request* handle, MPI_Status* status) {
  request& one = request_of(*handle, "MPI_Wait");
  fill_status(status, one.status.MPI_SOURCE, one.status.MPI_TAG, length_in(one.status));
  if (one.is_persistent) {
    one.now = request::state::inactive;
  } else {
    remove_request(handle);
  }
}

void fill_empty(MPI_Status* status) {
  fill_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = MPI_SUCCESS;
}

constexpr int none_done = -1, none_active = -2;

/// The first request that has ended, or why there is none.
int first_done(int count, MPI_Request const* all, char const* call) {
  match_receives();
  bool is_any = false;
  for (int i = 0; i < count; ++i) {
    if (!is_active(all[i], call)) continue;
    is_any = true;
    if (is_done(request_of(all[i], call))) return i;
  }
  return is_any ? none_done : none_active;
}

MPI_Status* status_at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

/// Ends all requests that are done, and lists them.
int finish_all_done(int count, MPI_Request* all, int* indices, MPI_Status* statuses,
                    char const* call) {
  int found = 0;
  for (int i = 0; i < count; ++i) {
    if (!is_active(all[i], call) || !is_done(request_of(all[i], call))) continue;
    indices[found] = i;
    finish(all + i, status_at(statuses, found));
    ++found;
  }
  return found;
}

int vain_polls = 0;  // one soon after the other
double last_poll = 0;
double vain_since = 0;  // the first vain one since others ran; 0: none

void check_count(int count, char const* call) {
  check_started(call);
  if (count < 0) refuse("%s: a count of %d", call, count);
}

}  // namespace

void begin_poll() {
  constexpr double most_seconds_between = 50e-6;
  if (PMPI_Wtime() - last_poll > most_seconds_between) vain_polls = 0;
  control->poll_begins = 1;
}

/// A rank that sleeps or computes between its polls lets others run as well, only later.
void note_vain_poll() {
  constexpr double most_seconds = 20e-3;
  double const now = PMPI_Wtime();
  if (vain_since == 0) vain_since = now;
  bool const is_slow = ++vain_polls < 64;
  if (!is_slow || now - vain_since > most_seconds) {
    vain_polls = 0;
    vain_since = 0;
    ask(call::yield, is_slow ? 1 : 0);
  }
  last_poll = PMPI_Wtime();
}

void wait(request& one) {
  for (;;) {
    match_receives();
    if (is_done(one)) return;
    std::uint32_t awaited = 0;
    add_awaited(one, awaited);
    control->part_count = awaited;
    ask(call::wait_any);
  }
}

}  // namespace outsize::bsp::mpi

using namespace outsize::bsp::mpi;  // NOLINT(google-build-using-namespace)

extern "C" {

int PMPI_Waitany(int count, MPI_Request array_of_requests[], int* index, MPI_Status* status) {
  check_count(count, "MPI_Waitany");
  int found = first_done(count, array_of_requests, "MPI_Waitany");
  while (found == none_done) {
    wait_for_some(count, array_of_requests);
    found = first_done(count, array_of_requests, "MPI_Waitany");
  }
  *index = found < 0 ? MPI_UNDEFINED : found;
  if (found < 0) {
    fill_empty(status);
  } else {
    finish(array_of_requests + found, status);
  }
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Waitany)

int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  int index = 0;
  return PMPI_Waitany(1, request, &index, status);
}
OUTSIZE_MPI_WEAK(Wait)

int PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]) {
  check_count(count, "MPI_Waitall");
  for (int i = 0; i < count; ++i) {
    PMPI_Wait(array_of_requests + i, status_at(array_of_statuses, i));
  }
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Waitall)

int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int* outcount,
                  int array_of_indices[], MPI_Status array_of_statuses[]) {
  check_count(incount, "MPI_Waitsome");
  int found = first_done(incount, array_of_requests, "MPI_Waitsome");
  while (found == none_done) {
    wait_for_some(incount, array_of_requests);
    found = first_done(incount, array_of_requests, "MPI_Waitsome");
  }
  *outcount = found == none_active ? MPI_UNDEFINED
                                   : finish_all_done(incount, array_of_requests, array_of_indices,
                                                     array_of_statuses, "MPI_Waitsome");
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Waitsome)

int PMPI_Testany(int count, MPI_Request array_of_requests[], int* index, int* flag,
                 MPI_Status* status) {
  check_count(count, "MPI_Testany");
  begin_poll();
  int const found = first_done(count, array_of_requests, "MPI_Testany");
  *flag = found != none_done;
  *index = found < 0 ? MPI_UNDEFINED : found;
  if (found == none_done) note_vain_poll();
  if (found == none_active) fill_empty(status);
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
  constexpr char const* call = "MPI_Testall";
  check_count(count, call);
  begin_poll();
  match_receives();
  *flag = 1;
  for (int i = 0; i < count; ++i) {
    if (!is_active(array_of_requests[i], call)) continue;
    if (!is_done(request_of(array_of_requests[i], call))) *flag = 0;
  }
  if (*flag == 0) {
    note_vain_poll();
    return MPI_SUCCESS;
  }
  for (int i = 0; i < count; ++i) {
    if (is_active(array_of_requests[i], call)) {
      finish(array_of_requests + i, status_at(array_of_statuses, i));
    } else {
      fill_empty(status_at(array_of_statuses, i));
    }
  }
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Testall)

int PMPI_Testsome(int incount, MPI_Request array_of_requests[], int* outcount,
                  int array_of_indices[], MPI_Status array_of_statuses[]) {
  constexpr char const* call = "MPI_Testsome";
  check_count(incount, call);
  begin_poll();
  int const found = first_done(incount, array_of_requests, call);
  *outcount = found == none_active ? MPI_UNDEFINED : 0;
  if (found == none_done) note_vain_poll();
  if (found >= 0) {
    *outcount =
        finish_all_done(incount, array_of_requests, array_of_indices, array_of_statuses, call);
  }
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Testsome)

int PMPI_Start(MPI_Request* request) {
  constexpr char const* call = "MPI_Start";
  check_started(call);
  auto& one = request_of(*request, call);
  if (!one.is_persistent)
    refuse("%s: %p is not a persistent request", call, static_cast<void*>(*request));
  if (one.now != outsize::bsp::mpi::request::state::inactive) {
    refuse("%s: request %p is under way", call, static_cast<void*>(*request));
  }
  start(one, call);
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Start)

int PMPI_Startall(int count, MPI_Request array_of_requests[]) {
  check_count(count, "MPI_Startall");
  for (int i = 0; i < count; ++i) PMPI_Start(array_of_requests + i);
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Startall)

int PMPI_Request_free(MPI_Request* request) {
  constexpr char const* call = "MPI_Request_free";
  check_started(call);
  if (request_of(*request, call).operation) {
    refuse("%s: request %p is of a collective operation", call, static_cast<void*>(*request));
  }
  remove_request(request);
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Request_free)

}  // extern "C"
