// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Ranks that allocate, compare their memory, send messages and take part in collectives, until all
// is done or one of them ends before: by MPI_Abort, exit() or a crash. For tests that end processes
// at any moment. Rank 0 says "at work" when all have begun.
//
// Usage: all_at_work ROUNDS BYTES [abort|exit|crash RANK ROUND]

#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BLOCKS = 4096, LONG_MESSAGE = 30000 };

static int rank, size;
static uint64_t* blocks[MOST_BLOCKS];
static size_t lengths[MOST_BLOCKS];
static uint64_t sent[LONG_MESSAGE], received[LONG_MESSAGE];

static uint64_t word_at(int of_rank, int number, size_t index) {
  uint64_t x = (uint64_t)(of_rank * MOST_BLOCKS + number + 1) * 0x9e3779b97f4a7c15U + index;
  return x ^ (x >> 29);
}

static void expect(int holds, const char* what) {
  if (holds) return;
  printf("rank %d: wrong: %s\n", rank, what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 9);
}

static void grow(int number, size_t words) {
  blocks[number] = malloc(words / 2 * sizeof(uint64_t));
  for (size_t i = 0; i < words / 2; ++i) blocks[number][i] = word_at(rank, number, i);
  blocks[number] = realloc(blocks[number], words * sizeof(uint64_t));
  for (size_t i = words / 2; i < words; ++i) blocks[number][i] = word_at(rank, number, i);
  lengths[number] = words;
}

static void compare(int number) {
  int is_right = 1;
  for (size_t i = 0; i < lengths[number]; ++i)
    is_right &= blocks[number][i] == word_at(rank, number, i);
  expect(is_right, "memory");
}

static void exchange(int round) {
  int shift = round % size, length = 1 + round * 7919 % LONG_MESSAGE;
  int to = (rank + shift) % size, from = (rank + size - shift) % size;
  MPI_Request both[2];
  for (int i = 0; i < length; ++i) sent[i] = word_at(rank, round, (size_t)i);
  MPI_Irecv(received, LONG_MESSAGE, MPI_UINT64_T, from, round, MPI_COMM_WORLD, &both[0]);
  MPI_Isend(sent, length, MPI_UINT64_T, to, round, MPI_COMM_WORLD, &both[1]);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  int is_right = 1;
  for (int i = 0; i < length; ++i) is_right &= received[i] == word_at(from, round, (size_t)i);
  expect(is_right, "a message");
}

static void collect(int round) {
  int part = LONG_MESSAGE / size, sum = 0;
  MPI_Alltoall(sent, part, MPI_UINT64_T, received, part, MPI_UINT64_T, MPI_COMM_WORLD);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(sum == size * (size - 1) / 2, "a sum");
  MPI_Bcast(received, 1000 + round, MPI_UINT64_T, round % size, MPI_COMM_WORLD);
}

static void end_early(const char* how) {
  if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  if (strcmp(how, "exit") == 0) exit(0);
  raise(SIGSEGV);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int rounds = atoi(argv[1]), victim = argc > 5 ? atoi(argv[4]) : -1;
  size_t words = (size_t)atol(argv[2]) / sizeof(uint64_t) / (size_t)rounds;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("at work\n");
  fflush(stdout);
  for (int round = 0; round < rounds; ++round) {
    if (rank == victim && round == atoi(argv[5])) end_early(argv[3]);
    grow(round, words);
    exchange(round);
    if (round % 3 == 0) collect(round);
    compare((round * 31 + rank) % (round + 1));
  }
  for (int round = 0; round < rounds; ++round) {
    compare(round);
    free(blocks[round]);
  }
  MPI_Finalize();
  if (rank == 0) printf("verified\n");
  return 0;
}
