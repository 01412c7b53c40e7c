// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A program that takes the address of malloc().

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

void* (*volatile allocate)(size_t) = malloc;

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  free(allocate(100000));
  MPI_Finalize();
  if (rank == 0) printf("verified\n");
  return 0;
}
