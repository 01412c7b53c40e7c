// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Operations of the program that do not commute, on items with gaps, in place and in parts.

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

// Strings of ranks: the fold of the ranks from a to b - 1 is their sequence, as a hash of it.
struct word {
  char gap;
  unsigned hash, power;
};

static void append(void* left, void* right, int* count, MPI_Datatype* type) {
  const struct word* a = left;
  struct word* b = right;
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

static void fill(struct word* all, int count) {
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

// The vectors of all ranks together are longer than the memory of one.
static void check_long_vectors(void) {
  enum { count = 400000 };
  unsigned *mine = malloc(count * sizeof *mine), *sum = malloc(count * sizeof *sum);
  for (unsigned i = 0; i < count; ++i) mine[i] = i * (unsigned)(rank + 1);
  MPI_Reduce(mine, sum, count, MPI_UNSIGNED, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Bcast(sum, count, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, mine, count, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
  unsigned all = (unsigned)size * (unsigned)(size + 1) / 2;
  for (unsigned i = 0; i < count; ++i) CHECK(sum[i] == i * all && mine[i] == i * all);
  free(sum);
  free(mine);
}

void check_operations(void) {
  check_long_vectors();
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
