// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Coordinates in a communicator that is not a grid. MPI ends the ranks with an error.

#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int place[1] = {0};
  MPI_Cart_coords(MPI_COMM_WORLD, rank, 1, place);
  if (rank == 0) fprintf(stderr, "no_grid: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
