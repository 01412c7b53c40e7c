// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A persistent request that is started while it is under way. MPI ends the ranks with an error.

#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int data = 0;
  MPI_Request request;
  MPI_Recv_init(&data, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Start(&request);
  if (rank == 0) fprintf(stderr, "started_twice: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
