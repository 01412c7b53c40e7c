// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A message of a type that was freed. MPI ends the ranks with an error.

#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int data[2] = {0, 0};
  MPI_Datatype pair, kept;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  kept = pair;
  MPI_Type_free(&pair);
  MPI_Send(data, 1, kept, (rank + 1) % size, 0, MPI_COMM_WORLD);
  if (rank == 0) fprintf(stderr, "freed_type: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
