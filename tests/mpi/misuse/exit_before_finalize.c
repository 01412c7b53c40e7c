// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The last rank calls exit(0) without MPI_Finalize while the others wait in a barrier. All ranks
// end, and the code of the whole is not 0.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == size - 1) exit(0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) fprintf(stderr, "exit_before_finalize: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
