// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// One allocation beyond all limits: BYTES (the first argument, 2^46 by default) on every rank. It
// fails, and the program says so; ours names the rank and the option to raise.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long long bytes = argc > 1 ? atoll(argv[1]) : 1LL << 46;
  char* block = malloc((size_t)bytes);
  if (block == NULL) MPI_Abort(MPI_COMM_WORLD, 4);
  block[0] = (char)rank;
  block[bytes - 1] = (char)size;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) fprintf(stderr, "huge_allocation: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
