// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Ranks a linked list: finds the distance of every node to the end. The nodes lie in blocks, one
// for each rank, and the list visits them in random order. In each round every node tosses a coin.
// A node with heads whose successor has tails leaves the list: its neighbours are told of each
// other, and its predecessor takes over its weight. When no more nodes are left than one rank
// holds, rank 0 ranks them. Then the rounds are undone in reverse: the rank of a removed node is
// that of its successor plus its weight. Coins are hashes of node and round, so a node knows its
// successor's without asking. Anderson, Miller: A simple randomized parallel algorithm for
// list-ranking. Information Processing Letters 33 (1990), in rounds for all nodes at once.
//
// Supersteps: a quarter of the nodes leaves in a round, so log_{4/3} p rounds are expected; each is
// one exchange on the way down (h about n/(2p) records at first) and one on the way back.
// Usage: list_ranking [NODES [SEED]]

#include "spmd.h"

static const uint64_t none = UINT64_MAX;

// A bijection of [0, 4^half_bits): four rounds of a Feistel network.
static uint64_t scramble(uint64_t x, int half_bits, int64_t seed, bool backward) {
  uint64_t mask = (UINT64_C(1) << half_bits) - 1;
  uint64_t left = x >> half_bits, right = x & mask;
  for (int i = 0; i < 4; ++i) {
    uint64_t round = (uint64_t)(backward ? 3 - i : i);
    if (backward) {
      uint64_t before = right ^ (random_at(seed, left ^ (round << 60)) & mask);
      right = left;
      left = before;
    } else {
      uint64_t after = left ^ (random_at(seed, right ^ (round << 60)) & mask);
      left = right;
      right = after;
    }
  }
  return (left << half_bits) | right;
}

// A random permutation of [0, nodes) or its inverse: follows the bijection until it is back in
// range.
static uint64_t permuted(uint64_t x, uint64_t nodes, int64_t seed, bool backward) {
  int half_bits = 1;
  while ((UINT64_C(1) << (2 * half_bits)) < nodes) ++half_bits;
  do x = scramble(x, half_bits, seed, backward);
  while (x >= nodes);
  return x;
}

typedef struct {
  int64_t nodes, first, count;  // all nodes; this rank's block
  int64_t seed;
  uint64_t *successor, *predecessor;
  uint64_t* weight;  // the distance to the successor
  uint64_t* rank;
  int64_t* active;  // the nodes of the block that are in the list, ascending
  int64_t active_count;
} block;

typedef struct {
  uint64_t target;    // the node that is told
  uint64_t other;     // its new successor, or new predecessor
  uint64_t distance;  // more weight for a new successor
  uint64_t removed;   // the node that left, for a new predecessor; otherwise `none`
} notice;

// The notices that a rank received in each round as the successor of a removed node.
typedef struct {
  uint64_t (*pairs)[2];  // the successor, the removed node
  int64_t count, room;
  int64_t round_begin[256];
  int rounds;
} history;

static block make_block(int64_t nodes, int64_t seed) {
  block b = {.nodes = nodes, .seed = seed};
  b.first = first_of(nodes, world_size(), world_rank());
  b.count = first_of(nodes, world_size(), world_rank() + 1) - b.first;
  b.successor = allocate(b.count, sizeof *b.successor);
  b.predecessor = allocate(b.count, sizeof *b.predecessor);
  b.weight = allocate(b.count, sizeof *b.weight);
  b.rank = allocate(b.count, sizeof *b.rank);
  b.active = allocate(b.count, sizeof *b.active);
  b.active_count = b.count;
  for (int64_t i = 0; i < b.count; ++i) {
    uint64_t place = permuted((uint64_t)(b.first + i), (uint64_t)nodes, seed, true);
    bool is_last = place == (uint64_t)nodes - 1;
    b.successor[i] = is_last ? none : permuted(place + 1, (uint64_t)nodes, seed, false);
    b.predecessor[i] = place == 0 ? none : permuted(place - 1, (uint64_t)nodes, seed, false);
    b.weight[i] = is_last ? 0 : 1;
    b.active[i] = i;
  }
  return b;
}

static bool tosses_heads(const block* b, uint64_t node, int round) {
  return (random_at(b->seed + round + 1, node) & 1) != 0;
}

// Sends every record, whose first word is a node, to the rank of that node.
static uint64_t* send_to_nodes(const block* b, const uint64_t* records, int words, int64_t count,
                               int64_t* received) {
  int size = world_size();
  int* owners = allocate(count, sizeof *owners);
  int64_t* to = allocate(size, sizeof *to);
  int64_t* from = allocate(size, sizeof *from);
  for (int64_t i = 0; i < count; ++i)
    owners[i] = part_of(b->nodes, size, (int64_t)records[i * words]);
  uint64_t* arranged = arrange(records, words, count, owners, to, size);
  uint64_t* arrived = exchange(arranged, words, to, from);
  *received = sum_of(from, size);
  free(arranged);
  free(from);
  free(to);
  free(owners);
  return arrived;
}

static void remember(history* h, uint64_t node, uint64_t removed) {
  if (h->count == h->room) {
    h->room = 2 * h->room + 1000;
    void* more = realloc(h->pairs, (size_t)h->room * sizeof *h->pairs);
    if (more == NULL) give_up("no memory for %" PRId64 " removed nodes", h->room);
    h->pairs = more;
  }
  h->pairs[h->count][0] = node;
  h->pairs[h->count++][1] = removed;
}

// Takes the nodes that leave in this round out of the list of active ones, and makes their notices.
static int64_t leave(block* b, int round, notice* notices) {
  int64_t made = 0, kept = 0;
  for (int64_t k = 0; k < b->active_count; ++k) {
    int64_t i = b->active[k];
    uint64_t node = (uint64_t)(b->first + i), next = b->successor[i], last = b->predecessor[i];
    bool leaves = next != none && tosses_heads(b, node, round) && !tosses_heads(b, next, round);
    if (!leaves) {
      b->active[kept++] = i;
      continue;
    }
    notices[made++] = (notice){next, last, 0, node};
    if (last != none) notices[made++] = (notice){last, next, b->weight[i], none};
  }
  b->active_count = kept;
  return made;
}

static void splice(block* b, history* h) {
  notice* notices = allocate(2 * b->active_count, sizeof *notices);
  int64_t made = leave(b, h->rounds, notices), received = 0;
  notice* arrived = (notice*)send_to_nodes(b, (uint64_t*)notices, 4, made, &received);
  free(notices);
  if (h->rounds == 255) give_up("the coins are not fair");
  h->round_begin[h->rounds++] = h->count;
  for (int64_t k = 0; k < received; ++k) {
    int64_t i = (int64_t)arrived[k].target - b->first;
    if (arrived[k].removed == none) {
      b->successor[i] = arrived[k].other;
      b->weight[i] += arrived[k].distance;
    } else {
      b->predecessor[i] = arrived[k].other;
      remember(h, arrived[k].target, arrived[k].removed);
    }
  }
  h->round_begin[h->rounds] = h->count;
  free(arrived);
}

// Every successor of a node that left in this round tells it its rank.
static void undo(block* b, const history* h, int round) {
  int64_t begin_of_round = h->round_begin[round];
  int64_t count = h->round_begin[round + 1] - begin_of_round, received = 0;
  uint64_t* answers = allocate(2 * count, sizeof *answers);
  for (int64_t k = 0; k < count; ++k) {
    const uint64_t* pair = h->pairs[begin_of_round + k];
    answers[2 * k] = pair[1];
    answers[2 * k + 1] = b->rank[(int64_t)pair[0] - b->first];
  }
  uint64_t* arrived = send_to_nodes(b, answers, 2, count, &received);
  for (int64_t k = 0; k < received; ++k) {
    int64_t i = (int64_t)arrived[2 * k] - b->first;
    b->rank[i] = arrived[2 * k + 1] + b->weight[i];
  }
  free(arrived);
  free(answers);
}

typedef struct {
  uint64_t node, successor, weight;
} link;

static int64_t place_of(const link* links, int64_t count, uint64_t node) {
  int64_t low = 0, high = count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (links[middle].node < node)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Follows the list from its head; `links` are ordered by node.
static uint64_t* rank_in_memory(const link* links, int64_t count) {
  uint64_t* ranks = allocate(count, sizeof *ranks);
  bool* has_predecessor = allocate(count, sizeof *has_predecessor);
  uint64_t left = 0;
  for (int64_t i = 0; i < count; ++i) {
    left += links[i].weight;
    if (links[i].successor != none)
      has_predecessor[place_of(links, count, links[i].successor)] = true;
  }
  int64_t at = 0;
  while (at < count && has_predecessor[at]) ++at;
  for (int64_t seen = 0; seen < count && at < count; ++seen) {
    ranks[at] = left;
    left -= links[at].weight;
    at = links[at].successor == none ? count : place_of(links, count, links[at].successor);
  }
  free(has_predecessor);
  return ranks;
}

// Rank 0 ranks the nodes that are left.
static void rank_the_rest(block* b) {
  int rank = world_rank(), size = world_size();
  link* mine = allocate(b->active_count, sizeof *mine);
  for (int64_t k = 0; k < b->active_count; ++k) {
    int64_t i = b->active[k];
    mine[k] = (link){(uint64_t)(b->first + i), b->successor[i], b->weight[i]};
  }
  int count = to_int(b->active_count), total = 0;
  int* layout = allocate(4 * (int64_t)size, sizeof *layout);
  int *counts = layout, *places = layout + size;
  int *words = layout + 2 * size, *word_places = layout + 3 * size;
  MPI_Gather(&count, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; ++i) {
    places[i] = total;
    words[i] = to_int(3 * (int64_t)counts[i]);
    word_places[i] = to_int(3 * (int64_t)total);
    total = to_int((int64_t)total + counts[i]);
  }
  link* all = allocate(total, sizeof *all);
  MPI_Gatherv(mine, to_int(3 * (int64_t)count), MPI_UINT64_T, all, words, word_places, MPI_UINT64_T,
              0, MPI_COMM_WORLD);
  uint64_t* ranks = rank_in_memory(all, total);
  uint64_t* my_ranks = allocate(count, sizeof *my_ranks);
  MPI_Scatterv(ranks, counts, places, MPI_UINT64_T, my_ranks, count, MPI_UINT64_T, 0,
               MPI_COMM_WORLD);
  for (int64_t k = 0; k < count; ++k) b->rank[b->active[k]] = my_ranks[k];
  free(my_ranks);
  free(ranks);
  free(all);
  free(layout);
  free(mine);
}

int main(int argc, char** argv) {
  setting settings[] = {{"nodes", 100000, 1, INT64_C(1) << 40, NULL},
                        {"seed", 1, 0, INT64_MAX / 2, NULL}};
  begin(&argc, &argv, settings, 2);
  int rank = world_rank(), size = world_size();
  int64_t nodes = settings[0].value, seed = settings[1].value;
  block b = make_block(nodes, seed);
  history* h = allocate(1, sizeof *h);

  int64_t limit = larger(nodes / size, size), left = nodes;
  for (; left > limit; left = sum_over_ranks(b.active_count)) splice(&b, h);
  rank_the_rest(&b);
  for (int round = h->rounds; round-- > 0;) undo(&b, h, round);

  uint64_t hash = 0;
  bool right = true;
  for (int64_t i = 0; i < b.count; ++i) {
    uint64_t node = (uint64_t)(b.first + i);
    uint64_t place = permuted(node, (uint64_t)nodes, seed, true);
    right = right && b.rank[i] == (uint64_t)nodes - 1 - place;
    hash += mix(mix(node) ^ b.rank[i]);
  }
  expect(right, "every rank is the distance to the end");
  hash = checksum_over_ranks(hash);
  if (rank == 0) {
    printf("list_ranking: %" PRId64 " nodes, seed %" PRId64 ", %d ranks\n", nodes, seed, size);
    printf("%d rounds, then %" PRId64 " nodes on rank 0\n", h->rounds, left);
    printf("checksum %016" PRIx64 "\n", hash);
  }
  free(h->pairs);
  free(h);
  free(b.active);
  free(b.rank);
  free(b.weight);
  free(b.predecessor);
  free(b.successor);
  return finish();
}
