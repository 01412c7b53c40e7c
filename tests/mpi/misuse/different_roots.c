// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A Bcast with different roots: ranks 0 and 1 each name themselves. An MPI that does not compare
// them hangs or goes on.

#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) MPI_Abort(MPI_COMM_WORLD, 2);

  int data = rank;
  MPI_Bcast(&data, 1, MPI_INT, rank < 2 ? rank : 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) fprintf(stderr, "different_roots: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
