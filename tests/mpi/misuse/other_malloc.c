// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A program with a malloc() of its own, in front of that of the MPI. Ours refuses to start it.
// Elsewhere it works, and the program ends with code 3.

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

static _Alignas(16) char memory[1 << 24];
static size_t used;

void* malloc(size_t bytes) {
  void* block = memory + used;
  used += (bytes + 15) / 16 * 16;
  return block;
}

void free(void* block) { (void)block; }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  fprintf(stderr, "other_malloc: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
