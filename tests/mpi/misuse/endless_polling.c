// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Every rank polls for a message that none sends. An MPI without a detector never ends.

#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int data = 0, done = 0;
  MPI_Request request;
  MPI_Irecv(&data, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &request);
  while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  if (rank == 0) fprintf(stderr, "endless_polling: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
