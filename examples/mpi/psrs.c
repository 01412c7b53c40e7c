// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Parallel sorting by regular sampling. Every rank sorts its n/p keys and takes p samples at equal
// distances. Rank 0 sorts the p^2 samples and takes p - 1 of them, again at equal distances, as
// splitters. Every rank cuts its keys at the splitters and sends part j to rank j, which merges.
// Shi, Schaeffer: Parallel sorting by regular sampling. J. Parallel Distrib. Comput. 14 (1992).
//
// Equal keys are told apart by (key, rank, index), so the published bound holds for all inputs: no
// rank receives more than 2n/p keys. With samples at floor(i (n/p) / p) it holds for every n, too.
//
// Supersteps: gather p^2 samples, broadcast p - 1 splitters, one exchange with h <= 2n/p.
// Usage: psrs [KEYS_PER_RANK [random|equal|zipf|sorted|staircase [SEED]]]

#include "spmd.h"

static const char* const distributions[] = {"random", "equal", "zipf", "sorted", "staircase", NULL};
enum { RANDOM, EQUAL, ZIPF, SORTED, STAIRCASE };

static uint64_t make_key(int64_t distribution, int64_t seed, int64_t global, int64_t local,
                         int64_t per_rank) {
  uint64_t random = random_at(seed, (uint64_t)global);
  switch (distribution) {
    case EQUAL:
      return 42;
    case ZIPF: {  // the frequency of a key falls like 1 / key
      uint64_t power = UINT64_C(1) << (random & 15);
      return power + below(power, mix(random));
    }
    case SORTED:
      return (uint64_t)global;
    case STAIRCASE:
      return (uint64_t)(local * 8 / per_rank);  // eight steps, the same on each rank
    default:
      return random;
  }
}

static int by_key(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

typedef struct {
  uint64_t key, rank, index;
} sample;

static int by_place(const void* a, const void* b) {
  const sample *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

// Returns the p - 1 splitters, on every rank.
static sample* choose_splitters(const uint64_t* keys, int64_t count, int rank, int size) {
  sample* mine = allocate(size, sizeof *mine);
  for (int i = 0; i < size; ++i) {
    int64_t index = first_of(count, size, i);
    mine[i] = (sample){keys[index], (uint64_t)rank, (uint64_t)index};
  }
  sample* all = allocate(rank == 0 ? (int64_t)size * size : 0, sizeof *all);
  sample* splitters = allocate(size, sizeof *splitters);
  MPI_Gather(mine, 3 * size, MPI_UINT64_T, all, 3 * size, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    qsort(all, (size_t)size * (size_t)size, sizeof *all, by_place);
    for (int k = 1; k < size; ++k) splitters[k - 1] = all[(int64_t)k * size + size / 2 - 2];
  }
  MPI_Bcast(splitters, 3 * (size - 1), MPI_UINT64_T, 0, MPI_COMM_WORLD);
  free(mine);
  free(all);
  return splitters;
}

// The number of this rank's keys that do not come after the splitter, in the order (key, rank,
// index).
static int64_t keys_up_to(const sample* splitter, const uint64_t* keys, int64_t count, int rank) {
  if (splitter->rank == (uint64_t)rank) return (int64_t)splitter->index + 1;
  bool with_equal = (uint64_t)rank < splitter->rank;
  int64_t low = 0, high = count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    bool before = keys[middle] < splitter->key || (with_equal && keys[middle] == splitter->key);
    if (before)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

typedef struct {
  const uint64_t *next, *end;
} run;

// Runs lie in memory in the order of ranks, so equal keys keep that order.
static bool is_before(const run* a, const run* b) {
  return *a->next < *b->next || (*a->next == *b->next && a->next < b->next);
}

static void sift_down(run* heap, int count, int at) {
  for (int child = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && is_before(&heap[child + 1], &heap[child])) ++child;
    if (!is_before(&heap[child], &heap[at])) return;
    run moved = heap[at];
    heap[at] = heap[child];
    heap[child] = moved;
    at = child;
  }
}

static void merge(const uint64_t* received, const int64_t* lengths, int size, uint64_t* merged) {
  run* heap = allocate(size, sizeof *heap);
  int count = 0;
  for (int i = 0; i < size; received += lengths[i++])
    if (lengths[i] > 0) heap[count++] = (run){received, received + lengths[i]};
  for (int at = count / 2; at-- > 0;) sift_down(heap, count, at);
  while (count > 0) {
    *merged++ = *heap[0].next++;
    if (heap[0].next == heap[0].end) heap[0] = heap[--count];
    sift_down(heap, count, 0);
  }
  free(heap);
}

// The 128 bits of a checksum of the multiset, in two halves.
static void add_checksum(const uint64_t* keys, int64_t count, uint64_t sums[2]) {
  sums[0] = sums[1] = 0;
  for (int64_t i = 0; i < count; ++i) {
    sums[0] += mix(keys[i]);
    sums[1] += mix(~mix(keys[i]));
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

// Checks the order within and across ranks. Returns a hash of every key with its place.
static uint64_t check_order(const uint64_t* keys, int64_t count, int rank) {
  bool sorted = true;
  for (int64_t i = 1; i < count; ++i) sorted = sorted && keys[i - 1] <= keys[i];
  expect(sorted, "keys of a rank are sorted");
  uint64_t last = count > 0 ? keys[count - 1] : 0, last_before = 0;
  MPI_Exscan(&last, &last_before, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  expect(rank == 0 || count == 0 || last_before <= keys[0], "keys are sorted across ranks");
  int64_t place = 0;
  MPI_Exscan(&count, &place, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) place = 0;
  uint64_t hash = 0;
  for (int64_t i = 0; i < count; ++i) hash += mix(keys[i] ^ mix((uint64_t)(place + i)));
  return checksum_over_ranks(hash);
}

int main(int argc, char** argv) {
  setting settings[] = {{"keys per rank", 20000, 1, INT64_C(1) << 34, NULL},
                        {"distribution", RANDOM, RANDOM, STAIRCASE, distributions},
                        {"seed", 1, 0, INT64_MAX, NULL}};
  begin(&argc, &argv, settings, 3);
  int rank = world_rank(), size = world_size();
  int64_t count = settings[0].value;
  uint64_t* keys = allocate(count, sizeof *keys);
  for (int64_t i = 0; i < count; ++i)
    keys[i] = make_key(settings[1].value, settings[2].value, rank * count + i, i, count);
  uint64_t sums_before[2], sums_after[2];
  add_checksum(keys, count, sums_before);

  qsort(keys, (size_t)count, sizeof *keys, by_key);
  sample* splitters = choose_splitters(keys, count, rank, size);
  int64_t* to = allocate(size, sizeof *to);
  int64_t* from = allocate(size, sizeof *from);
  int64_t begin_of_part = 0;
  for (int j = 0; j < size; ++j) {
    int64_t end = j + 1 < size ? keys_up_to(&splitters[j], keys, count, rank) : count;
    to[j] = end - begin_of_part;
    begin_of_part = end;
  }
  uint64_t* received = exchange(keys, 1, to, from);
  free(keys);
  int64_t part = sum_of(from, size);
  uint64_t* merged = allocate(part, sizeof *merged);
  merge(received, from, size, merged);

  expect(part <= 2 * count, "no rank receives more than 2n/p keys");
  expect(sum_over_ranks(part) == count * size, "no key is lost or added");
  add_checksum(merged, part, sums_after);
  expect(memcmp(sums_before, sums_after, sizeof sums_after) == 0, "the multiset is the same");
  uint64_t hash = check_order(merged, part, rank);
  int64_t largest = largest_over_ranks(part);
  if (rank == 0) {
    printf("psrs: %" PRId64 " keys, %s, seed %" PRId64 ", %d ranks\n", count * size,
           distributions[settings[1].value], settings[2].value, size);
    printf("largest part %" PRId64 ", bound %" PRId64 "\n", largest, 2 * count);
    printf("checksum %016" PRIx64 "%016" PRIx64 ", order %016" PRIx64 "\n", sums_after[1],
           sums_after[0], hash);
  }
  free(merged);
  free(received);
  free(from);
  free(to);
  free(splitters);
  return finish();
}
