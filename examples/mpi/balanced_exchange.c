// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Personalised communication in two balanced rounds. Every rank has packets for other ranks, and no
// rank sends or receives more than h, but a single pair may share nearly all of them. Rank i deals
// its packets over p bins: the first one for rank j goes to bin (i + j) mod p, each next one for j
// to the next bin. Round 1 sends bin b to rank b, round 2 sends each packet on to its destination.
// No message is longer than h/p + (p - 1)/2 packets in either round. The order of the packets of
// each pair is restored from their sequence numbers. Bader, Helman, JaJa: Practical parallel
// algorithms for personalized communication and integer sorting. ACM J. Experimental Algorithmics 1
// (1996).
//
// Supersteps: two exchanges with h-relations of h + p(p - 1)/2 packets at most.
// Usage: balanced_exchange [PACKETS_PER_RANK [even|shift|random|zipf|hot [SEED]]]

#include "spmd.h"

static const char* const patterns[] = {"even", "shift", "random", "zipf", "hot", NULL};
enum { EVEN, SHIFT, RANDOM, ZIPF, HOT };

enum { PACKET_WORDS = 4 };

typedef struct {
  uint64_t source, destination;
  uint64_t sequence;  // among the packets of this source for this destination
  uint64_t value;
} packet;

static int destination_of(int64_t pattern, int64_t seed, int rank, int size, int64_t index) {
  uint64_t random = random_at(seed + rank, (uint64_t)index);
  switch (pattern) {
    case SHIFT:
      return (rank + 1) % size;
    case RANDOM:
      return (int)below((uint64_t)size, random);
    case ZIPF:
      return (int)below(below((uint64_t)size, random) + 1, mix(random));
    case HOT:
      return (random & 1) == 0 ? 0 : (int)below((uint64_t)size, random);
    default:
      return (int)((rank + index) % size);
  }
}

static uint64_t value_of(int64_t seed, const packet* p) {
  return mix(mix((uint64_t)seed + p->source) ^ mix(p->destination) ^ p->sequence);
}

static packet* make_packets(int64_t count, int64_t pattern, int64_t seed) {
  int rank = world_rank(), size = world_size();
  packet* packets = allocate(count, sizeof *packets);
  uint64_t* sequence = allocate(size, sizeof *sequence);
  for (int64_t i = 0; i < count; ++i) {
    int to = destination_of(pattern, seed, rank, size, i);
    packets[i] = (packet){(uint64_t)rank, (uint64_t)to, sequence[to]++, 0};
    packets[i].value = value_of(seed, &packets[i]);
  }
  free(sequence);
  return packets;
}

// Sends every packet to the rank that `rank_of` names. Replaces the array; returns its new length
// and sets *longest to the longest message that this rank sends.
static int64_t send_round(packet** packets, int64_t count, const int* rank_of, int64_t* longest) {
  int size = world_size();
  int64_t* to = allocate(size, sizeof *to);
  int64_t* from = allocate(size, sizeof *from);
  uint64_t* arranged = arrange((const uint64_t*)*packets, PACKET_WORDS, count, rank_of, to, size);
  free(*packets);
  *packets = (packet*)exchange(arranged, PACKET_WORDS, to, from);
  free(arranged);
  *longest = 0;
  for (int j = 0; j < size; ++j) *longest = larger(*longest, to[j]);
  int64_t received = sum_of(from, size);
  free(from);
  free(to);
  return received;
}

// The bins of round 1. Also counts the packets for each destination.
static int* deal(const packet* packets, int64_t count, int64_t* for_rank) {
  int rank = world_rank(), size = world_size();
  int* bins = allocate(count, sizeof *bins);
  for (int64_t i = 0; i < count; ++i) {
    int64_t destination = (int64_t)packets[i].destination;
    bins[i] = (int)((rank + destination + for_rank[destination]++) % size);
  }
  return bins;
}

static int* destinations(const packet* packets, int64_t count) {
  int* ranks = allocate(count, sizeof *ranks);
  for (int64_t i = 0; i < count; ++i) ranks[i] = (int)packets[i].destination;
  return ranks;
}

// Puts every packet where its source and sequence number say, and checks that each place is taken
// once by the right value. Returns a hash of the values in order.
static uint64_t restore_order(const packet* packets, int64_t count, const int64_t* from,
                              int64_t seed) {
  int rank = world_rank(), size = world_size();
  int64_t* first = allocate(size, sizeof *first);
  for (int i = 1; i < size; ++i) first[i] = first[i - 1] + from[i - 1];
  packet* ordered = allocate(count, sizeof *ordered);
  bool* taken = allocate(count, sizeof *taken);
  bool right = true;
  for (int64_t i = 0; i < count; ++i) {
    const packet* p = &packets[i];
    bool known = p->source < (uint64_t)size && p->sequence < (uint64_t)from[p->source] &&
                 p->destination == (uint64_t)rank && p->value == value_of(seed, p);
    int64_t place = known ? first[p->source] + (int64_t)p->sequence : 0;
    right = right && known && !taken[place];
    if (!known) continue;
    taken[place] = true;
    ordered[place] = *p;
  }
  expect(right, "every packet arrives once, with its value");
  uint64_t hash = mix((uint64_t)rank);
  for (int64_t i = 0; i < count; ++i) hash = mix(hash ^ ordered[i].value);
  free(taken);
  free(ordered);
  free(first);
  return hash;
}

int main(int argc, char** argv) {
  setting settings[] = {{"packets per rank", 20000, 0, INT64_C(1) << 32, NULL},
                        {"pattern", ZIPF, EVEN, HOT, patterns},
                        {"seed", 1, 0, INT64_MAX / 2, NULL}};
  begin(&argc, &argv, settings, 3);
  int rank = world_rank(), size = world_size();
  int64_t sent = settings[0].value, seed = settings[2].value;
  packet* packets = make_packets(sent, settings[1].value, seed);

  int64_t* to = allocate(size, sizeof *to);
  int64_t* from = allocate(size, sizeof *from);
  int* bins = deal(packets, sent, to);
  MPI_Alltoall(to, 1, MPI_INT64_T, from, 1, MPI_INT64_T, MPI_COMM_WORLD);
  int64_t longest_pair = 0, longest[2] = {0, 0};
  for (int j = 0; j < size; ++j) longest_pair = larger(longest_pair, to[j]);
  int64_t h = largest_over_ranks(larger(sent, sum_of(from, size)));

  int64_t between = send_round(&packets, sent, bins, &longest[0]);
  free(bins);
  int* ranks = destinations(packets, between);
  int64_t received = send_round(&packets, between, ranks, &longest[1]);
  free(ranks);

  int64_t twice_p_times_bound = 2 * h + (int64_t)size * (size - 1);
  expect(2 * size * longest[0] <= twice_p_times_bound, "messages of round 1 are within the bound");
  expect(2 * size * longest[1] <= twice_p_times_bound, "messages of round 2 are within the bound");
  expect(received == sum_of(from, size), "the number of packets is right");
  uint64_t hash = 0;
  if (received == sum_of(from, size)) hash = restore_order(packets, received, from, seed);
  hash = checksum_over_ranks(hash);
  MPI_Allreduce(MPI_IN_PLACE, &longest_pair, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, longest, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("balanced_exchange: h = %" PRId64 ", %s, seed %" PRId64 ", %d ranks\n", h,
           patterns[settings[1].value], seed, size);
    printf("longest message: sent directly %" PRId64 ", round 1 %" PRId64 ", round 2 %" PRId64
           ", bound %" PRId64 "\n",
           longest_pair, longest[0], longest[1], twice_p_times_bound / (2 * size));
    printf("checksum %016" PRIx64 "\n", hash);
  }
  free(from);
  free(to);
  free(packets);
  return finish();
}
