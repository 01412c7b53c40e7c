// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The last rank writes through a null pointer while the others wait in a barrier. All ranks end.

#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  volatile int* volatile nowhere = NULL;
  if (rank == size - 1) *nowhere = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) fprintf(stderr, "crash_in_one_rank: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
