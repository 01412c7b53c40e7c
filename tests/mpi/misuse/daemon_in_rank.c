// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A rank becomes a daemon, which is a fork: ours refuses it by name. Elsewhere it works, and the
// daemon ends with code 3.

#define _DEFAULT_SOURCE

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (daemon(1, 1) != 0) MPI_Abort(MPI_COMM_WORLD, 4);
  fprintf(stderr, "daemon_in_rank: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
