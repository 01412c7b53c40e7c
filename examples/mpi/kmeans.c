// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// k-means clustering by Lloyd's method. Every rank has a block of the points and all centres; it
// assigns its points to their nearest centres, and one Allreduce adds up coordinates, counts and
// costs. Coordinates are integers, and a centre is the mean rounded to the nearest integers, the
// best integer point for its cluster. So the cost never rises, and sums are exact in every order.
// Dhillon, Modha: A data-clustering algorithm on distributed memory multiprocessors. LNAI 1759
// (2000).
//
// Supersteps: one Allreduce of k(d + 1) + 1 words per iteration.
// Usage: kmeans [POINTS [CLUSTERS [MOST_ITERATIONS [SEED]]]]

#include "spmd.h"

enum { DIMENSIONS = 4, SPREAD = 4000 };

typedef struct {
  int32_t at[DIMENSIONS];
} point;

// The points lie around one place for each cluster.
static point make_point(int64_t index, int64_t clusters, int64_t seed) {
  point p;
  uint64_t random = random_at(seed, (uint64_t)index);
  uint64_t place = below((uint64_t)clusters, random);
  for (int d = 0; d < DIMENSIONS; ++d) {
    uint64_t middle =
        SPREAD + below(65536 - 2 * SPREAD, random_at(~seed, place * 16 + (uint64_t)d));
    random = mix(random);
    uint64_t offset = (below(SPREAD, random) + below(SPREAD, mix(~random))) / 2;
    p.at[d] = (int32_t)(middle + offset - SPREAD / 2);
  }
  return p;
}

static int64_t distance_squared(const point* a, const point* b) {
  int64_t sum = 0;
  for (int d = 0; d < DIMENSIONS; ++d) {
    int64_t difference = (int64_t)a->at[d] - b->at[d];
    sum += difference * difference;
  }
  return sum;
}

// The sums of one iteration: for each cluster its coordinates and points, at the end the cost.
static void assign(const point* points, int64_t count, const point* centres, int64_t clusters,
                   int64_t* sums) {
  memset(sums, 0, (size_t)(clusters * (DIMENSIONS + 1) + 1) * sizeof *sums);
  for (int64_t i = 0; i < count; ++i) {
    int64_t nearest = 0, shortest = INT64_MAX;
    for (int64_t c = 0; c < clusters; ++c) {
      int64_t distance = distance_squared(&points[i], &centres[c]);
      if (distance >= shortest) continue;
      shortest = distance;
      nearest = c;
    }
    int64_t* cluster = sums + nearest * (DIMENSIONS + 1);
    for (int d = 0; d < DIMENSIONS; ++d) cluster[d] += points[i].at[d];
    ++cluster[DIMENSIONS];
    sums[clusters * (DIMENSIONS + 1)] += shortest;
  }
}

// Returns whether a centre moves. The centre of an empty cluster stays.
static bool move_centres(point* centres, int64_t clusters, const int64_t* sums) {
  bool moves = false;
  for (int64_t c = 0; c < clusters; ++c) {
    const int64_t* cluster = sums + c * (DIMENSIONS + 1);
    int64_t points = cluster[DIMENSIONS];
    for (int d = 0; d < DIMENSIONS && points > 0; ++d) {
      int32_t mean = (int32_t)((2 * cluster[d] + points) / (2 * points));
      moves = moves || mean != centres[c].at[d];
      centres[c].at[d] = mean;
    }
  }
  return moves;
}

// Every point is in one cluster: counts and coordinates add up.
static bool is_complete(const int64_t* sums, int64_t clusters, const int64_t* all) {
  int64_t totals[DIMENSIONS + 1] = {0};
  for (int64_t c = 0; c < clusters; ++c)
    for (int d = 0; d <= DIMENSIONS; ++d) totals[d] += sums[c * (DIMENSIONS + 1) + d];
  return memcmp(totals, all, sizeof totals) == 0;
}

int main(int argc, char** argv) {
  setting settings[] = {{"points", 20000, 1, 1 << 28, NULL},
                        {"clusters", 10, 1, 1 << 20, NULL},
                        {"most iterations", 50, 1, 1 << 20, NULL},
                        {"seed", 1, 0, INT64_MAX, NULL}};
  begin(&argc, &argv, settings, 4);
  int64_t total = settings[0].value, clusters = settings[1].value, seed = settings[3].value;
  int rank = world_rank(), size = world_size();
  int64_t first = first_of(total, size, rank), count = first_of(total, size, rank + 1) - first;
  point* points = allocate(count, sizeof *points);
  int64_t all[DIMENSIONS + 1] = {0};
  for (int64_t i = 0; i < count; ++i) {
    points[i] = make_point(first + i, clusters, seed);
    for (int d = 0; d < DIMENSIONS; ++d) all[d] += points[i].at[d];
  }
  all[DIMENSIONS] = count;
  MPI_Allreduce(MPI_IN_PLACE, all, DIMENSIONS + 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);

  point* centres = allocate(clusters, sizeof *centres);
  for (int64_t c = 0; rank == 0 && c < clusters; ++c)
    centres[c] = make_point(first_of(total, clusters, c), clusters, seed);
  MPI_Bcast(centres, to_int(clusters * DIMENSIONS), MPI_INT32_T, 0, MPI_COMM_WORLD);
  int64_t words = clusters * (DIMENSIONS + 1) + 1, cost = INT64_MAX, iterations = 0;
  int64_t* sums = allocate(words, sizeof *sums);
  bool moves = true;
  for (; moves && iterations < settings[2].value; ++iterations) {
    assign(points, count, centres, clusters, sums);
    MPI_Allreduce(MPI_IN_PLACE, sums, to_int(words), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    expect(is_complete(sums, clusters, all), "every point is in one cluster");
    expect(sums[words - 1] <= cost, "the cost does not rise");
    cost = sums[words - 1];
    moves = move_centres(centres, clusters, sums);
  }
  if (rank == 0) {
    printf("kmeans: %" PRId64 " points, %" PRId64 " clusters, seed %" PRId64 ", %d ranks\n", total,
           clusters, seed, size);
    printf("%s after %" PRId64 " iterations, cost %" PRId64 "\n", moves ? "not at rest" : "at rest",
           iterations, cost);
    for (int64_t c = 0; c < smaller(clusters, 5); ++c)
      printf("centre %" PRId64 ": %" PRId32 " %" PRId32 " %" PRId32 " %" PRId32 ", %" PRId64
             " points\n",
             c, centres[c].at[0], centres[c].at[1], centres[c].at[2], centres[c].at[3],
             sums[c * (DIMENSIONS + 1) + DIMENSIONS]);
  }
  free(sums);
  free(centres);
  free(points);
  return finish();
}
