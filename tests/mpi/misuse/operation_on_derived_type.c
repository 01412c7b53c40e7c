// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A sum of items of a derived type. MPI ends the ranks with an error.

#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int data[2] = {0, 0}, sum[2];
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Allreduce(data, sum, 1, pair, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) fprintf(stderr, "operation_on_derived_type: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
