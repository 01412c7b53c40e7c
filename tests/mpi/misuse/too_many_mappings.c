// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The last rank makes mappings until the system gives no more, then allocates. Under ours the
// allocation needs mappings as well. Elsewhere it may work, and the program ends with code 3.

#define _DEFAULT_SOURCE

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, BLOCKS = 8, BLOCK_BYTES = 300000, MOST = 4000000 };

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == size - 1) {
    for (int i = 0; i < MOST; ++i) {  // neighbours that differ are mappings of their own
      int protection = i % 2 == 0 ? PROT_READ : PROT_NONE;
      if (mmap(NULL, PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) break;
    }
    for (int i = 0; i < BLOCKS; ++i) {
      char* block = malloc(BLOCK_BYTES);
      if (block == NULL) MPI_Abort(MPI_COMM_WORLD, 4);
      memset(block, i, BLOCK_BYTES);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) fprintf(stderr, "too_many_mappings: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
