// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// PageRank by power iteration on a random directed graph. Ranks of vertices are fixed-point numbers
// that add up to 2^56 exactly. In each iteration a vertex gives 85 % of its rank to its successors,
// in equal parts rounded down; the rest, with all of a vertex without successors, goes to a pool
// that is dealt out evenly. Integers make the result the same for every number of ranks. Page,
// Brin, Motwani, Winograd: The PageRank citation ranking: bringing order to the Web. Stanford
// InfoLab 1999-66.
//
// Edges are ordered by the process of their target once; later iterations send bare values.
// Checked: the sum stays 2^56, and the changes shrink by 85 % up to rounding.
//
// Supersteps: per iteration one exchange (h = edges/p expected) and one Allreduce of a word.
// Usage: page_rank [VERTICES [MEAN_DEGREE [ITERATIONS [SEED]]]]

#include "spmd.h"

static const uint64_t whole = UINT64_C(1) << 56;

typedef struct {
  int64_t vertices, first, count;
  uint64_t* degree;
  int64_t sent_edges, received_edges;
  int64_t* source;  // for each edge sent, in the order of sending, its local vertex
  int64_t* target;  // for each edge received its local vertex
  int *to, *to_at, *from, *from_at;
} graph;

// One vertex in sixteen has no successors.
static uint64_t degree_of(int64_t vertex, int64_t mean, int64_t seed) {
  uint64_t random = random_at(seed, (uint64_t)vertex);
  return (random & 15) == 0 ? 0 : 1 + below(2 * (uint64_t)mean - 1, random);
}

// Low numbers are successors more often: the square of a uniform random number.
static uint64_t successor_of(int64_t vertex, uint64_t edge, int64_t vertices, int64_t seed) {
  uint64_t random = mix(random_at(~seed, (uint64_t)vertex) ^ edge) >> 32;
  return (uint64_t)(((unsigned __int128)(random * random) * (uint64_t)vertices) >> 64);
}

static void send_edges(graph* g, const uint64_t* edges, const int* owners) {
  int size = world_size();
  int64_t* to = allocate(size, sizeof *to);
  int64_t* from = allocate(size, sizeof *from);
  uint64_t* arranged = arrange(edges, 2, g->sent_edges, owners, to, size);
  uint64_t* targets = allocate(g->sent_edges, sizeof *targets);
  g->source = allocate(g->sent_edges, sizeof *g->source);
  for (int64_t i = 0; i < g->sent_edges; ++i) {
    targets[i] = arranged[2 * i];
    g->source[i] = (int64_t)arranged[2 * i + 1];
  }
  free(arranged);
  uint64_t* received = exchange(targets, 1, to, from);
  free(targets);
  g->received_edges = sum_of(from, size);
  g->target = allocate(g->received_edges, sizeof *g->target);
  for (int64_t i = 0; i < g->received_edges; ++i) g->target[i] = (int64_t)received[i] - g->first;
  free(received);
  g->to = allocate(4 * (int64_t)size, sizeof *g->to);
  g->to_at = g->to + size;
  g->from = g->to_at + size;
  g->from_at = g->from + size;
  set_layout(to, 1, g->to, g->to_at);
  set_layout(from, 1, g->from, g->from_at);
  free(from);
  free(to);
}

static graph make_graph(int64_t vertices, int64_t mean, int64_t seed) {
  graph g = {.vertices = vertices};
  g.first = first_of(vertices, world_size(), world_rank());
  g.count = first_of(vertices, world_size(), world_rank() + 1) - g.first;
  g.degree = allocate(g.count, sizeof *g.degree);
  for (int64_t v = 0; v < g.count; ++v) {
    g.degree[v] = degree_of(g.first + v, mean, seed);
    g.sent_edges += (int64_t)g.degree[v];
  }
  uint64_t* edges = allocate(2 * g.sent_edges, sizeof *edges);  // target, local source
  int* owners = allocate(g.sent_edges, sizeof *owners);
  int64_t made = 0;
  for (int64_t v = 0; v < g.count; ++v)
    for (uint64_t edge = 0; edge < g.degree[v]; ++edge, ++made) {
      edges[2 * made] = successor_of(g.first + v, edge, vertices, seed);
      edges[2 * made + 1] = (uint64_t)v;
      owners[made] = part_of(vertices, world_size(), (int64_t)edges[2 * made]);
    }
  send_edges(&g, edges, owners);
  free(owners);
  free(edges);
  return g;
}

// One iteration, from `ranks` to `next`. Returns the change, summed over all vertices.
static int64_t iterate(const graph* g, const uint64_t* ranks, uint64_t* next, uint64_t* sent,
                       uint64_t* received) {
  uint64_t pool = 0;
  for (int64_t v = 0; v < g->count; ++v) {
    uint64_t degree = g->degree[v], share = degree == 0 ? 0 : ranks[v] * 85 / (100 * degree);
    pool += ranks[v] - degree * share;
    next[v] = share;
  }
  for (int64_t i = 0; i < g->sent_edges; ++i) sent[i] = next[g->source[i]];
  MPI_Alltoallv(sent, g->to, g->to_at, MPI_UINT64_T, received, g->from, g->from_at, MPI_UINT64_T,
                MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &pool, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  uint64_t even = pool / (uint64_t)g->vertices, rest = pool % (uint64_t)g->vertices;
  for (int64_t v = 0; v < g->count; ++v) next[v] = even + ((uint64_t)(g->first + v) < rest ? 1 : 0);
  for (int64_t i = 0; i < g->received_edges; ++i) next[g->target[i]] += received[i];
  int64_t change = 0;
  for (int64_t v = 0; v < g->count; ++v)
    change += (int64_t)(next[v] > ranks[v] ? next[v] - ranks[v] : ranks[v] - next[v]);
  return sum_over_ranks(change);
}

enum { SHOWN = 5 };

typedef struct {
  uint64_t rank, vertex;
} place;

static int by_rank(const void* a, const void* b) {
  const place *x = a, *y = b;
  if (x->rank != y->rank) return x->rank > y->rank ? -1 : 1;
  return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

// Prints the vertices with the highest ranks: rank 0 gathers the first five of every process.
static void print_highest(const graph* g, const uint64_t* ranks) {
  int size = world_size(), rank = world_rank();
  place* mine = allocate(larger(g->count, SHOWN), sizeof *mine);
  for (int64_t v = 0; v < g->count; ++v) mine[v] = (place){ranks[v], (uint64_t)(g->first + v)};
  qsort(mine, (size_t)g->count, sizeof *mine, by_rank);
  place* all = allocate(rank == 0 ? (int64_t)size * SHOWN : 0, sizeof *all);
  MPI_Gather(mine, 2 * SHOWN, MPI_UINT64_T, all, 2 * SHOWN, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    qsort(all, (size_t)size * SHOWN, sizeof *all, by_rank);
    for (int i = 0; i < SHOWN && i < g->vertices; ++i)
      printf("vertex %" PRIu64 ": %" PRIu64 "\n", all[i].vertex, all[i].rank);
  }
  free(all);
  free(mine);
}

int main(int argc, char** argv) {
  setting settings[] = {{"vertices", 10000, 1, INT64_C(1) << 32, NULL},
                        {"mean degree", 8, 1, 1 << 20, NULL},
                        {"iterations", 20, 1, 1 << 20, NULL},
                        {"seed", 1, 0, INT64_MAX, NULL}};
  begin(&argc, &argv, settings, 4);
  int64_t vertices = settings[0].value, seed = settings[3].value;
  graph g = make_graph(vertices, settings[1].value, seed);
  int64_t edges = sum_over_ranks(g.sent_edges);
  uint64_t* ranks = allocate(g.count, sizeof *ranks);
  uint64_t* next = allocate(g.count, sizeof *next);
  uint64_t* sent = allocate(g.sent_edges, sizeof *sent);
  uint64_t* received = allocate(g.received_edges, sizeof *received);
  for (int64_t v = 0; v < g.count; ++v)
    ranks[v] = (uint64_t)(first_of((int64_t)whole, vertices, g.first + v + 1) -
                          first_of((int64_t)whole, vertices, g.first + v));

  int64_t change = 2 * (int64_t)whole;
  for (int64_t i = 0; i < settings[2].value; ++i) {
    int64_t smaller_change = iterate(&g, ranks, next, sent, received);
    expect(smaller_change <= change / 100 * 85 + 4 * (edges + vertices) + 100,
           "changes shrink by the damping factor");
    change = smaller_change;
    uint64_t* old = ranks;
    ranks = next;
    next = old;
  }
  uint64_t sum = 0, hash = 0;
  for (int64_t v = 0; v < g.count; ++v) {
    sum += ranks[v];
    hash += mix(mix((uint64_t)(g.first + v)) ^ ranks[v]);
  }
  expect(checksum_over_ranks(sum) == whole, "the ranks add up to 2^56");
  hash = checksum_over_ranks(hash);
  if (world_rank() == 0)
    printf("page_rank: %" PRId64 " vertices, %" PRId64 " edges, seed %" PRId64
           ", %d ranks\n"
           "change %" PRId64 " after %" PRId64 " iterations, checksum %016" PRIx64 "\n",
           vertices, edges, seed, world_size(), change, settings[2].value, hash);
  print_highest(&g, ranks);
  free(received);
  free(sent);
  free(next);
  free(ranks);
  free(g.to);
  free(g.target);
  free(g.source);
  free(g.degree);
  return finish();
}
