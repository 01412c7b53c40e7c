// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Each rank sends all its messages before it receives the first one: they go to disk.
//
// Usage: flood MESSAGES WORDS

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int messages = atoi(argv[1]), words = atoi(argv[2]);
  int to = (rank + 1) % size, from = (rank + size - 1) % size;
  uint64_t* data = malloc((size_t)words * sizeof *data);
  for (int message = 0; message < messages; ++message) {
    for (int i = 0; i < words; ++i)
      data[i] = (uint64_t)(rank + 1) * 0x9e3779b97f4a7c15U + i + message;
    MPI_Send(data, words, MPI_UINT64_T, to, 0, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int message = 0; message < messages; ++message) {
    MPI_Recv(data, words, MPI_UINT64_T, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < words; ++i) {
      if (data[i] != (uint64_t)(from + 1) * 0x9e3779b97f4a7c15U + i + message)
        MPI_Abort(MPI_COMM_WORLD, 9);
    }
  }
  MPI_Finalize();
  if (rank == 0) printf("verified\n");
  return 0;
}
