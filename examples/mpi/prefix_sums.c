// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Prefix sums of a distributed array: every rank sums its block, MPI_Exscan gives the sum of all
// blocks before it, and a second pass adds up from there. Sums are modulo 2^64, so they are exact.
// Blelloch: Prefix sums and their applications. CMU-CS-90-190 (1990), section 1.2.
//
// Supersteps: one Exscan of a word.
// Usage: prefix_sums [ITEMS [SEED]]

#include "spmd.h"

// Compares the end of every block with the start of the next one.
static void check_borders(uint64_t before, uint64_t end, uint64_t total) {
  int rank = world_rank(), size = world_size();
  int next = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  int last = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  uint64_t end_of_last = 0;
  MPI_Sendrecv(&end, 1, MPI_UINT64_T, next, 0, &end_of_last, 1, MPI_UINT64_T, last, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(before == end_of_last, "a block begins with the sum of those before it");
  expect(rank + 1 < size || end == total, "the last prefix is the sum of all");
}

int main(int argc, char** argv) {
  setting settings[] = {{"items", 1000000, 0, INT64_C(1) << 40, NULL},
                        {"seed", 1, 0, INT64_MAX, NULL}};
  begin(&argc, &argv, settings, 2);
  int rank = world_rank(), size = world_size();
  int64_t items = settings[0].value, seed = settings[1].value;
  int64_t first = first_of(items, size, rank), count = first_of(items, size, rank + 1) - first;
  uint64_t* values = allocate(count, sizeof *values);
  for (int64_t i = 0; i < count; ++i) values[i] = random_at(seed, (uint64_t)(first + i));

  uint64_t local = 0, before = 0;
  for (int64_t i = 0; i < count; ++i) local += values[i];
  MPI_Exscan(&local, &before, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) before = 0;  // Exscan leaves it undefined there
  uint64_t sum = before;
  for (int64_t i = 0; i < count; ++i) values[i] = sum += values[i];

  uint64_t last = before, hash = 0;
  bool right = true;
  for (int64_t i = 0; i < count; ++i) {
    right = right && values[i] - last == random_at(seed, (uint64_t)(first + i));
    last = values[i];
    hash += mix(values[i] ^ mix((uint64_t)(first + i)));
  }
  expect(right, "neighbouring prefixes differ by the item");
  uint64_t total = checksum_over_ranks(local);
  check_borders(before, last, total);
  hash = checksum_over_ranks(hash);
  if (rank == 0) {
    printf("prefix_sums: %" PRId64 " items, seed %" PRId64 ", %d ranks\n", items, seed, size);
    printf("total %016" PRIx64 ", checksum %016" PRIx64 "\n", total, hash);
  }
  free(values);
  return finish();
}
