// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A barrier on a communicator that was freed. MPI ends the ranks with an error.

#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm copy, kept;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  kept = copy;
  MPI_Comm_free(&copy);
  MPI_Barrier(kept);
  if (rank == 0) fprintf(stderr, "freed_communicator: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
