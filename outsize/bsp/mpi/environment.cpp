// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Beginning and end, and time.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "child.hpp"
#include "communicators.hpp"
#include "datatype.hpp"
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
  make_predefined_types();
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

}  // extern "C"
