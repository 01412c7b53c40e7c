// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A Gather whose root expects less than the others send. MPI ends the root with an error of
// truncation.

#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) MPI_Abort(MPI_COMM_WORLD, 2);

  static int sent[1000], received[100000];
  if (size > 100) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Gather(sent, rank == 0 ? 10 : 1000, MPI_INT, received, 10, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) fprintf(stderr, "short_gather: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
