// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// In each round every rank changes all of its memory, and sends the same number of bytes to each
// rank. So bytes sent and moved follow from the arguments: numbers of a rank, rounds, numbers sent
// to each. With a fourth argument rank 1 aborts in that round.

#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  long const numbers = atol(argv[1]), rounds = atol(argv[2]), each = atol(argv[3]);
  long const last = argc > 4 ? atol(argv[4]) : rounds;
  long* const mine = malloc(sizeof(long) * (size_t)numbers);
  long* const out = malloc(sizeof(long) * (size_t)(each * ranks));
  long* const in = malloc(sizeof(long) * (size_t)(each * ranks));
  int wrong = 0;
  for (long round = 0; round < rounds; ++round) {
    if (rank == 1 && round == last) MPI_Abort(MPI_COMM_WORLD, 3);
    for (long i = 0; i < numbers; ++i) mine[i] = (long)rank * 1000003 + round * 7 + i + 1;
    for (long i = 0; i < each * ranks; ++i) out[i] = rank * 100 + i / each + round + 1;
    MPI_Alltoall(out, (int)each, MPI_LONG, in, (int)each, MPI_LONG, MPI_COMM_WORLD);
    for (long i = 0; i < each * ranks; ++i) wrong += in[i] != i / each * 100 + rank + round + 1;
    for (long i = 0; i < numbers; ++i) {
      wrong += mine[i] != (long)rank * 1000003 + round * 7 + i + 1;
    }
  }
  int sum = 0;
  MPI_Reduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) puts(sum == 0 ? "verified" : "wrong");
  MPI_Finalize();
  return 0;
}
