// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// An Allreduce with different operations: rank 1 asks for the maximum, the others for the sum. An
// MPI that does not compare them goes on with wrong results.

#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) MPI_Abort(MPI_COMM_WORLD, 2);

  int mine = rank, result = 0;
  MPI_Allreduce(&mine, &result, 1, MPI_INT, rank == 1 ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) fprintf(stderr, "different_operations: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
