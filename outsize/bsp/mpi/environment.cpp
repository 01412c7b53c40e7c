// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Beginning and end, time, communicators.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "child.hpp"
#include "handles.hpp"
#include "pmpi_aliases.inc"

namespace outsize::bsp::mpi {

namespace {

bool has_started = false;
bool has_ended = false;

}  // namespace

void check_started(char const* call) {
  if (!has_started || has_ended) {
    refuse("%s: called %s", call, has_ended ? "after MPI_Finalize" : "before MPI_Init");
  }
}

}  // namespace outsize::bsp::mpi

using namespace outsize::bsp::mpi;  // NOLINT(google-build-using-namespace)

extern "C" {

int PMPI_Init(int* /*argc*/, char*** /*argv*/) {
  if (control == nullptr) {
    static char const text[] =
        "outsize: this program is to be started by outsize-run (outsize-run -v 8 PROGRAM)\n";
    if (::write(2, text, sizeof text - 1) < 0) ::_exit(1);
    ::_exit(1);
  }
  if (has_started) refuse("MPI_Init: called twice");
  has_started = true;
  control->now.store(outsize::bsp::process::life::started);
  make_first_communicators();
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Init)

int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  *provided = required < MPI_THREAD_SERIALIZED ? required : MPI_THREAD_SERIALIZED;
  return PMPI_Init(argc, argv);
}
OUTSIZE_MPI_WEAK(Init_thread)

int PMPI_Initialized(int* flag) {
  *flag = has_started;
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Initialized)

int PMPI_Finalize(void) {
  check_started("MPI_Finalize");
  PMPI_Barrier(MPI_COMM_WORLD);
  has_ended = true;
  control->now.store(outsize::bsp::process::life::finalized);
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Finalize)

int PMPI_Finalized(int* flag) {
  *flag = has_ended;
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Finalized)

int PMPI_Abort(MPI_Comm /*comm*/, int errorcode) {
  ::fflush(nullptr);
  if (control == nullptr) ::_exit(errorcode);
  char text[64];
  ::snprintf(text, sizeof text, "MPI_Abort with code %d", errorcode);
  end_run((errorcode & 0xff) != 0 ? errorcode & 0xff : 1, text);
}
OUTSIZE_MPI_WEAK(Abort)

double PMPI_Wtime(void) {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}
OUTSIZE_MPI_WEAK(Wtime)

double PMPI_Wtick(void) { return 1e-9; }
OUTSIZE_MPI_WEAK(Wtick)

int PMPI_Get_processor_name(char* name, int* resultlen) {
  ::gethostname(name, MPI_MAX_PROCESSOR_NAME);
  name[MPI_MAX_PROCESSOR_NAME - 1] = '\0';
  *resultlen = static_cast<int>(::strlen(name));
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Get_processor_name)

// ---- communicators ----

int PMPI_Comm_rank(MPI_Comm comm, int* rank) {
  *rank = communicator_of(comm, "MPI_Comm_rank").rank;
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Comm_rank)

int PMPI_Comm_size(MPI_Comm comm, int* size) {
  *size = communicator_of(comm, "MPI_Comm_size").size;
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Comm_size)

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  communicator& mine = communicator_of(comm, "MPI_Comm_split");
  struct choice {
    int color, key;
  };
  auto const size = static_cast<std::size_t>(mine.size);
  auto* const all = static_cast<choice*>(::malloc(size * sizeof(choice)));
  auto* const members = static_cast<int*>(::malloc(size * sizeof(int)));
  if (all == nullptr || members == nullptr) refuse("MPI_Comm_split: no memory");
  choice const own{color, key};
  PMPI_Allgather(&own, 2, MPI_INT, all, 2, MPI_INT, comm);
  std::uint64_t const number = mine.next_number - 1;
  *newcomm = MPI_COMM_NULL;
  if (color != MPI_UNDEFINED) {
    int count = 0;
    for (int rank = 0; rank < mine.size; ++rank) {  // by key; equal ones by rank
      if (all[rank].color != color) continue;
      int place = count++;
      for (; place > 0 && all[members[place - 1]].key > all[rank].key; --place) {
        members[place] = members[place - 1];
      }
      members[place] = rank;
    }
    int rank = 0;
    for (int i = 0; i < count; ++i) {
      if (members[i] == mine.rank) rank = i;
      outsize::bsp::process::parts_of(*shared, rank_in_world)[i] = {
          .member = static_cast<std::uint64_t>(members[i]), .address = 0, .bytes = 0};
    }
    control->part_count = static_cast<std::uint32_t>(count);
    std::uint64_t const group =
        ask(call::new_group, mine.group, number, static_cast<std::int64_t>(color));
    *newcomm = add_communicator(group, rank, count);
  }
  ::free(all);
  ::free(members);
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Comm_split)

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  return PMPI_Comm_split(comm, 0, communicator_of(comm, "MPI_Comm_dup").rank, newcomm);
}
OUTSIZE_MPI_WEAK(Comm_dup)

int PMPI_Comm_free(MPI_Comm* comm) {
  communicator_of(*comm, "MPI_Comm_free");
  if (*comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF) {
    refuse("MPI_Comm_free: a predefined communicator");
  }
  remove_communicator(*comm);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
OUTSIZE_MPI_WEAK(Comm_free)

}  // extern "C"
