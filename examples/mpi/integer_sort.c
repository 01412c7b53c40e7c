// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Integer sort of the kind of the NAS benchmark IS: ranks N small keys, several times over. Each
// iteration changes two keys, counts keys by bucket (their leading bits), adds the counts of all
// ranks, gives each rank a range of buckets that holds about N/p keys, sends every key to the rank
// of its bucket, and counts how often each value occurs: the prefix sums of these counts are the
// ranks. At the end the last ranking puts the keys in order, which is verified. As in NAS, N/16
// values, a sum of four random numbers, so the middle ones are frequent. Bailey et al.: The NAS
// parallel benchmarks. RNR-94-007 (1994), section 2.5. This is our own program, with keys that do
// not depend on the number of ranks; no result of it is a NAS result.
//
// Local work moves forward through memory: keys are dealt to at least 1024 buckets in order, so the
// table of counts is touched one bucket's range after the other. A rank receives at most N/p keys
// and one bucket.
//
// NAS declares its arrays in static memory. Build with -DSTATIC_KEYS=n for static arrays of n keys
// and more per rank; otherwise they lie on the heap.
//
// Supersteps per iteration: Allreduce of the bucket counts, Alltoall of p counts, Alltoallv of the
// keys (h about N/p). The time of the iterations goes to stderr.
// Usage: integer_sort [LOG2_OF_KEYS [ITERATIONS [SEED]]]

#include "spmd.h"

enum { MOST_BUCKETS_LOG2 = 14, MOST_BUCKETS = 1 << MOST_BUCKETS_LOG2, PROBES = 5 };

#ifdef STATIC_KEYS
enum { HAS_STATIC_ARRAYS = 1, ROOM = STATIC_KEYS + STATIC_KEYS / 4 + 4096 };
static int32_t static_keys[STATIC_KEYS], static_dealt[ROOM], static_received[ROOM];
#else
enum { HAS_STATIC_ARRAYS = 0, ROOM = 0, STATIC_KEYS = 0 };
static int32_t *static_keys, *static_dealt, *static_received;
#endif

static int32_t* keys;      // this rank's share, in its first order
static int32_t* dealt;     // the same keys by bucket; at the end the sorted part
static int32_t* received;  // the keys of this rank's buckets
static int64_t key_count, received_count, room;
static int64_t all_keys;
static int key_bits, shift;  // of the keys, and to their buckets

static int bucket_count;
static int32_t bucket_sizes[MOST_BUCKETS], bucket_places[MOST_BUCKETS];
static int64_t all_bucket_sizes[MOST_BUCKETS];

// The ranking: for each value from `low_value` on the number of received keys before its first one,
// and in `keys_before` those on lower ranks.
static int32_t* ranks;
static int64_t low_value, value_count, value_room, keys_before;

// The sum of four random numbers of 32 bits, scaled to key_bits.
static int32_t make_key(int64_t seed, int64_t index) {
  uint64_t a = random_at(seed, 2 * (uint64_t)index), b = random_at(seed, 2 * (uint64_t)index + 1);
  uint64_t sum = (a >> 32) + (a & UINT32_MAX) + (b >> 32) + (b & UINT32_MAX);
  return (int32_t)(sum >> (34 - key_bits));
}

static void choose_sizes(int log2_keys, int64_t iterations) {
  int size = world_size();
  all_keys = INT64_C(1) << log2_keys;
  key_bits = log2_keys - 4;
  int bucket_bits = 10;
  while (bucket_bits < MOST_BUCKETS_LOG2 && (1 << bucket_bits) < 16 * size) ++bucket_bits;
  if (bucket_bits > key_bits) bucket_bits = key_bits;
  bucket_count = 1 << bucket_bits;
  shift = key_bits - bucket_bits;
  key_count = first_of(all_keys, size, world_rank() + 1) - first_of(all_keys, size, world_rank());
  int64_t most = (all_keys + size - 1) / size;
  if (all_keys / size < 2 * iterations + 2) refuse("too few keys for %d ranks", size);
  if (most > INT_MAX / 2) refuse("too many keys for %d ranks", size);
  if (HAS_STATIC_ARRAYS && most > STATIC_KEYS)
    refuse("built for %d keys per rank, not %" PRId64, STATIC_KEYS, most);
}

static void make_arrays(int64_t seed) {
  room = HAS_STATIC_ARRAYS ? ROOM : key_count;
  keys = HAS_STATIC_ARRAYS ? static_keys : allocate(key_count, sizeof *keys);
  dealt = HAS_STATIC_ARRAYS ? static_dealt : allocate(room, sizeof *dealt);
  received = HAS_STATIC_ARRAYS ? static_received : allocate(room, sizeof *received);
  int64_t first = first_of(all_keys, world_size(), world_rank());
  for (int64_t i = 0; i < key_count; ++i) keys[i] = make_key(seed, first + i);
}

// Makes room for the keys of this rank's buckets and drops those of the last iteration.
static void reserve(int64_t count) {
  if (count <= room) return;
  if (HAS_STATIC_ARRAYS) give_up("built for %d received keys, not %" PRId64, ROOM, count);
  free(received);
  received = allocate(count, sizeof *received);
  room = count;
}

static void deal_to_buckets(void) {
  memset(bucket_sizes, 0, (size_t)bucket_count * sizeof *bucket_sizes);
  for (int64_t i = 0; i < key_count; ++i) ++bucket_sizes[keys[i] >> shift];
  int32_t place = 0;
  for (int b = 0; b < bucket_count; ++b) {
    bucket_places[b] = place;
    place += bucket_sizes[b];
  }
  for (int64_t i = 0; i < key_count; ++i) dealt[bucket_places[keys[i] >> shift]++] = keys[i];
}

// A bucket belongs to the rank whose N/p-th part of the sorted keys its first key lies in.
static void assign_buckets(int* to) {
  int size = world_size(), rank = world_rank(), first = bucket_count, end = bucket_count;
  int64_t before = 0;
  keys_before = all_keys;
  memset(to, 0, (size_t)size * sizeof *to);
  for (int b = 0; b < bucket_count; ++b) {
    int owner = before < all_keys ? part_of(all_keys, size, before) : size - 1;
    if (owner == rank && first == bucket_count) {
      first = b;
      keys_before = before;
    }
    if (owner > rank && end == bucket_count) end = b;
    to[owner] += bucket_sizes[b];
    before += all_bucket_sizes[b];
  }
  if (first > end) first = end;
  low_value = (int64_t)first << shift;
  value_count = (int64_t)(end - first) << shift;
}

static void exchange_keys(int* layout) {
  int size = world_size();
  int *to = layout, *to_at = to + size, *from = to_at + size, *from_at = from + size;
  MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
  int64_t place = 0;
  received_count = 0;
  for (int j = 0; j < size; ++j) {
    to_at[j] = (int)place;
    from_at[j] = to_int(received_count);
    place += to[j];
    received_count += from[j];
  }
  reserve(received_count);
  MPI_Alltoallv(dealt, to, to_at, MPI_INT32_T, received, from, from_at, MPI_INT32_T,
                MPI_COMM_WORLD);
}

static void count_values(void) {
  if (value_count > value_room) {
    free(ranks);
    ranks = allocate(value_count, sizeof *ranks);
    value_room = value_count;
  }
  memset(ranks, 0, (size_t)value_count * sizeof *ranks);
  int32_t* count_of = ranks;
  int32_t low = (int32_t)low_value;
  for (int64_t i = 0; i < received_count; ++i) ++count_of[received[i] - low];
  int32_t before = 0;
  for (int64_t value = 0; value < value_count; ++value) {
    int32_t count = ranks[value];
    ranks[value] = before;
    before += count;
  }
}

// One iteration: ranks all keys.
static void rank_keys(int64_t iteration, int64_t iterations, int* layout) {
  if (world_rank() == 0) {
    int32_t values = 1 << key_bits;
    keys[iteration] = (int32_t)(iteration % values);
    keys[iteration + iterations] = values - 1 - (int32_t)(iteration % values);
  }
  deal_to_buckets();
  for (int b = 0; b < bucket_count; ++b) all_bucket_sizes[b] = bucket_sizes[b];
  MPI_Allreduce(MPI_IN_PLACE, all_bucket_sizes, bucket_count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  assign_buckets(layout);
  exchange_keys(layout);
  count_values();
}

// Partial verification: the ranks of a few values against a count of all keys below them.
static void check_probes(int64_t seed, int64_t* probe_ranks) {
  int64_t in_table[PROBES], counted[PROBES] = {0};
  for (int i = 0; i < PROBES; ++i) {
    int64_t value = (int64_t)below(UINT64_C(1) << key_bits, random_at(~seed, (uint64_t)i));
    bool is_mine = value >= low_value && value - low_value < value_count;
    in_table[i] = is_mine ? keys_before + ranks[value - low_value] : -1;
    for (int64_t k = 0; k < key_count; ++k) counted[i] += keys[k] < value ? 1 : 0;
  }
  MPI_Allreduce(in_table, probe_ranks, PROBES, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, counted, PROBES, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  expect(memcmp(probe_ranks, counted, sizeof counted) == 0, "ranks of the probes are right");
}

// Puts the received keys where the ranking says. Changes the ranks.
static void put_in_order(void) {
  if (!HAS_STATIC_ARRAYS) {
    free(dealt);
    dealt = allocate(received_count, sizeof *dealt);
  }
  for (int64_t i = 0; i < received_count; ++i)
    dealt[ranks[received[i] - low_value]++] = received[i];
}

static uint64_t multiset_checksum(const int32_t* values, int64_t count) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += mix((uint64_t)values[i]);
  return checksum_over_ranks(sum);
}

// Full verification: order within and across ranks, number and multiset of the keys.
static uint64_t check_sorted(void) {
  bool sorted = true;
  for (int64_t i = 1; i < received_count; ++i) sorted = sorted && dealt[i - 1] <= dealt[i];
  expect(sorted, "keys of a rank are sorted");
  int32_t last = received_count > 0 ? dealt[received_count - 1] : -1, last_before = -1;
  MPI_Exscan(&last, &last_before, 1, MPI_INT32_T, MPI_MAX, MPI_COMM_WORLD);
  expect(world_rank() == 0 || received_count == 0 || last_before <= dealt[0],
         "keys are sorted across ranks");
  int64_t before = 0;
  MPI_Exscan(&received_count, &before, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  expect(world_rank() == 0 || received_count == 0 || before == keys_before,
         "a rank's first key has its rank");
  expect(sum_over_ranks(received_count) == all_keys, "no key is lost or added");
  uint64_t checksum = multiset_checksum(dealt, received_count);
  expect(checksum == multiset_checksum(keys, key_count), "the multiset is the same");
  return checksum;
}

int main(int argc, char** argv) {
  setting settings[] = {{"log2 of the keys", 16, 10, 34, NULL},
                        {"iterations", 10, 1, 1000, NULL},
                        {"seed", 1, 0, INT64_MAX, NULL}};
  begin(&argc, &argv, settings, 3);
  int log2_keys = (int)settings[0].value;
  int64_t iterations = settings[1].value, seed = settings[2].value;
  choose_sizes(log2_keys, iterations);
  make_arrays(seed);
  int* layout = allocate(4 * (int64_t)world_size(), sizeof *layout);

  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = MPI_Wtime(), longest = 0;
  for (int64_t i = 1; i <= iterations; ++i) rank_keys(i, iterations, layout);
  seconds = MPI_Wtime() - seconds;
  MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (world_rank() == 0)
    fprintf(stderr, "integer_sort: ranking took %.3f s, %.1f million keys per second\n", longest,
            (double)all_keys * (double)iterations / longest / 1e6);

  int64_t probe_ranks[PROBES];
  check_probes(seed, probe_ranks);
  put_in_order();
  uint64_t checksum = check_sorted();
  if (world_rank() == 0) {
    printf("integer_sort: 2^%d keys of %d bits, %" PRId64 " iterations, seed %" PRId64
           ", %d ranks\n",
           log2_keys, key_bits, iterations, seed, world_size());
    printf("ranks of the probes:");
    for (int i = 0; i < PROBES; ++i) printf(" %" PRId64, probe_ranks[i]);
    printf("\nchecksum %016" PRIx64 "\n", checksum);
  }
  free(layout);
  free(ranks);
  if (!HAS_STATIC_ARRAYS) {
    free(received);
    free(dealt);
    free(keys);
  }
  return finish();
}
