// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Operations of the program that do not commute, on items with gaps, in place and in parts; and
// operations in the background.

#include <stddef.h>
#include <string.h>

#include "check.h"

// Strings of ranks: the fold of the ranks from a to b - 1 is their sequence, as a hash of it.
struct word {
  char gap;
  unsigned hash, power;
};

static void append(void *left, void *right, int *count, MPI_Datatype *type) {
  const struct word *a = left;
  struct word *b = right;
  MPI_Aint lb = 0, extent = 0;
  MPI_Type_get_extent(*type, &lb, &extent);
  CHECK(extent == sizeof(struct word) && *count > 0);
  for (int i = 0; i < *count; ++i) {
    b[i].hash = a[i].hash * b[i].power + b[i].hash;
    b[i].power *= a[i].power;
  }
}

static struct word word_of(int of, int i) {
  struct word made = {7, (unsigned)(of * 10 + i + 1), 31};
  return made;
}

static int is_fold(struct word found, int begin, int end, int i) {
  unsigned hash = 0, power = 1;
  for (int r = begin; r < end; ++r) {
    hash = hash * 31 + word_of(r, i).hash;
    power *= 31;
  }
  return found.hash == hash && found.power == power;
}

static MPI_Datatype word_type(void) {
  MPI_Datatype pair, type;
  int length = 2;
  MPI_Aint place = offsetof(struct word, hash);
  MPI_Type_create_hindexed(1, &length, &place, MPI_UNSIGNED, &pair);
  MPI_Type_create_resized(pair, 0, sizeof(struct word), &type);
  MPI_Type_free(&pair);
  MPI_Type_commit(&type);
  return type;
}

enum { items = 3 };

static void fill(struct word *all, int count) {
  for (int i = 0; i < count; ++i) all[i] = word_of(rank, i);
}

static void check_folds(MPI_Datatype type, MPI_Op op) {
  struct word mine[items], all[items];
  fill(mine, items);
  memset(all, 9, sizeof all);
  MPI_Reduce(mine, all, items, type, op, size - 1, MPI_COMM_WORLD);
  for (int i = 0; i < items && rank == size - 1; ++i) {
    CHECK(is_fold(all[i], 0, size, i) && all[i].gap == 9);
  }
  MPI_Allreduce(mine, all, items, type, op, MPI_COMM_WORLD);
  for (int i = 0; i < items; ++i) CHECK(is_fold(all[i], 0, size, i) && all[i].gap == 9);
  MPI_Scan(mine, all, items, type, op, MPI_COMM_WORLD);
  for (int i = 0; i < items; ++i) CHECK(is_fold(all[i], 0, rank + 1, i));
  MPI_Exscan(MPI_IN_PLACE, mine, items, type, op, MPI_COMM_WORLD);
  for (int i = 0; i < items && rank > 0; ++i) CHECK(is_fold(mine[i], 0, rank, i));
  MPI_Allreduce(mine, all, 0, type, op, MPI_COMM_WORLD);  // calls nothing
}

static void check_reduce_scatter(MPI_Datatype type, MPI_Op op) {
  struct word mine[64 + items], part[items];
  int counts[64], total = 0, before = 0;
  if (size > 20) return;
  for (int r = 0; r < size; ++r) {
    counts[r] = r % 2 == 0 ? r % 3 : 0;  // some get nothing
    if (r < rank) before += counts[r];
    total += counts[r];
  }
  fill(mine, total);
  MPI_Reduce_scatter(mine, part, counts, type, op, MPI_COMM_WORLD);
  for (int i = 0; i < counts[rank]; ++i) CHECK(is_fold(part[i], 0, size, before + i));
  fill(mine, 3 * size);
  MPI_Reduce_scatter_block(MPI_IN_PLACE, mine, 3, type, op, MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) CHECK(is_fold(mine[i], 0, size, 3 * rank + i));
}

void check_operations(void) {
  MPI_Op op;
  MPI_Datatype type = word_type();
  MPI_Op_create(append, 0, &op);
  check_folds(type, op);
  check_reduce_scatter(type, op);
  MPI_Op_free(&op);
  CHECK(op == MPI_OP_NULL);
  MPI_Type_free(&type);
  long sum = 1;
  MPI_Reduce_scatter_block(MPI_IN_PLACE, &sum, 0, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == 1);
}

static void check_barriers(void) {
  MPI_Request request;
  int flag = 0, late = -1, polls = 0;
  if (size > 1 && rank == 0) {  // the others poll, as the barrier needs their message first
    for (int r = 1; r < size; ++r) {
      MPI_Recv(&late, 1, MPI_INT, r, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  if (rank > 0) {
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Send(&rank, 1, MPI_INT, 0, 30, MPI_COMM_WORLD);
  }
  while (!flag) {
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    ++polls;
  }
  CHECK(request == MPI_REQUEST_NULL && polls > 0);
}

// Two exchanges under way, ended in the other order; their counts are of no use any more.
static void check_two_exchanges(void) {
  int out[2][64], in[2][64], ones[64], places[64];
  MPI_Request all[3];
  if (size > 64) return;
  for (int r = 0; r < size; ++r) {
    ones[r] = 1;
    places[r] = size - 1 - r;
    out[0][places[r]] = 100 * rank + r;
    out[1][places[r]] = -100 * rank - r;
  }
  for (int i = 0; i < 2; ++i) {
    MPI_Ialltoallv(out[i], ones, places, MPI_INT, in[i], ones, places, MPI_INT, MPI_COMM_WORLD,
                   &all[i]);
  }
  MPI_Ibarrier(MPI_COMM_WORLD, &all[2]);
  MPI_Wait(&all[2], MPI_STATUS_IGNORE);
  MPI_Wait(&all[1], MPI_STATUS_IGNORE);
  MPI_Waitall(3, all, MPI_STATUSES_IGNORE);
  for (int r = 0; r < size; ++r) {
    CHECK(in[0][places[r]] == 100 * r + rank && in[1][places[r]] == -100 * r - rank);
  }
}

// A wait for a message, a synchronous send and an exchange at once.
static void check_mixture(void) {
  int in[64], ones[64], places[64], received = -1, index = 0, seen = 0;
  MPI_Request all[4];
  if (size > 64) return;
  for (int r = 0; r < size; ++r) {
    ones[r] = 1;
    places[r] = r;
    in[r] = rank + r;
  }
  MPI_Ialltoallv(MPI_IN_PLACE, ones, places, MPI_INT, in, ones, places, MPI_INT, MPI_COMM_WORLD,
                 &all[0]);
  MPI_Irecv(&received, 1, MPI_INT, (rank + 1) % size, 31, MPI_COMM_WORLD, &all[1]);
  MPI_Issend(&rank, 1, MPI_INT, (rank + size - 1) % size, 31, MPI_COMM_WORLD, &all[2]);
  MPI_Ibarrier(MPI_COMM_WORLD, &all[3]);
  for (int i = 0; i < 4; ++i) {
    MPI_Waitany(4, all, &index, MPI_STATUS_IGNORE);
    CHECK(index >= 0 && index < 4);
    seen |= 1 << index;
  }
  CHECK(seen == 15 && received == (rank + 1) % size);
  for (int r = 0; r < size; ++r) CHECK(in[r] == rank + r);
}

void check_background(void) {
  check_barriers();
  check_two_exchanges();
  check_mixture();
}
