// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The last rank allocates and writes blocks of 1 MiB until there is no memory, or up to BYTES (the
// first argument, 2^46 by default). Ours names the rank and the option to raise; elsewhere malloc
// returns null or the system ends the process, so limit the address space.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long long bytes = argc > 1 ? atoll(argv[1]) : 1LL << 46;
  for (long long sum = 0; rank == size - 1 && sum < bytes; sum += 1 << 20) {
    void* block = malloc(1 << 20);
    if (block == NULL) MPI_Abort(MPI_COMM_WORLD, 4);
    memset(block, 1, 1 << 20);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) fprintf(stderr, "allocation_beyond_limits: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
