// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Every third rank forms a communicator with its like. In each round its members pass their words
// around a ring, and poll for them as programs do that compute in between.

#include <mpi.h>
#include <stddef.h>

#include "parts.h"

enum { WORDS = 5000 };

static MPI_Comm third = MPI_COMM_NULL;
static int rank_in_third, size_of_third, rank_in_world;
static uint64_t sent[WORDS], received[WORDS];
static long fruitless_polls;

void begin_traffic(void) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_in_world);
  MPI_Comm_split(MPI_COMM_WORLD, rank_in_world % 3, rank_in_world, &third);
  MPI_Comm_rank(third, &rank_in_third);
  MPI_Comm_size(third, &size_of_third);
}

static uint64_t word_of(int world_rank, int round, int index) {
  return hash_of((uint64_t)world_rank * 1000003U + (uint64_t)round * 5003U + (uint64_t)index);
}

static void poll(MPI_Request* request) {
  int done = 0;
  for (MPI_Test(request, &done, MPI_STATUS_IGNORE); !done;
       MPI_Test(request, &done, MPI_STATUS_IGNORE))
    ++fruitless_polls;
}

// Returns whether the words are those of the rank before this one.
bool pass_messages(int round) {
  int next = (rank_in_third + 1) % size_of_third;
  int last = (rank_in_third + size_of_third - 1) % size_of_third;
  int count = WORDS >> (round % 8);  // long and short messages
  MPI_Request requests[2];
  for (int i = 0; i < count; ++i) sent[i] = word_of(rank_in_world, round, i);
  MPI_Irecv(received, count, MPI_UINT64_T, last, round, third, &requests[0]);
  MPI_Isend(sent, count, MPI_UINT64_T, next, round, third, &requests[1]);
  poll(&requests[0]);
  poll(&requests[1]);
  bool right = true;
  int sender = last * 3 + rank_in_world % 3;
  for (int i = 0; i < count; ++i) right = right && received[i] == word_of(sender, round, i);
  return right;
}

void end_traffic(void) { MPI_Comm_free(&third); }
