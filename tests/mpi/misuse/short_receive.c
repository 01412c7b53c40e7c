// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A receive buffer that is too short: rank 0 sends 100 integers, rank 1 has room for 10. MPI ends
// the ranks with an error of truncation.

#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) MPI_Abort(MPI_COMM_WORLD, 2);

  int data[100] = {0};
  if (rank == 0) MPI_Send(data, 100, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(data, 10, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) fprintf(stderr, "short_receive: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
