// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// An exchange of -1 items with one of the ranks. MPI ends the ranks with an error.

#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int sent[4] = {0, 0, 0, 0}, received[4], counts[4] = {1, 1, -1, 1}, places[4] = {0, 1, 2, 3};
  MPI_Alltoallv(sent, counts, places, MPI_INT, received, counts, places, MPI_INT, MPI_COMM_WORLD);
  if (rank == 0) fprintf(stderr, "negative_count_of_a_rank: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
