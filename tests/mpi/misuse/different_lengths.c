// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// An Allreduce with different lengths: rank 1 has one item less than the others. An MPI that does
// not compare them ends with truncation, or goes on with wrong results.

#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) MPI_Abort(MPI_COMM_WORLD, 2);

  int data[100] = {0}, sums[100] = {0};
  MPI_Allreduce(data, sums, rank == 1 ? 99 : 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) fprintf(stderr, "different_lengths: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
