// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Rank 0 finalizes MPI while the others wait for a message from it. An MPI without a detector
// hangs.

#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) MPI_Abort(MPI_COMM_WORLD, 2);

  int data = 0;
  if (rank == 0)
    MPI_Finalize();
  else
    MPI_Recv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) return 3;
  if (rank == 0) fprintf(stderr, "finalize_early: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
