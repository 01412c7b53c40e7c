// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The product of two square matrices by SUMMA. q x q ranks form a grid, with q the largest square
// that fits; the others only take part in the verdict. In step k the ranks of column k send their
// blocks of A along their rows, those of row k their blocks of B along their columns, and every
// rank adds the product of the two to its block of C. Items are integers modulo 65521, so 2^32
// products fit a sum. van de Geijn, Watts: SUMMA: scalable universal matrix multiplication
// algorithm. Concurrency: Practice and Experience 9 (1997), with panels of a whole block.
//
// Checked by Freivalds' method with two random vectors: A(Br) = Cr; a wrong product passes with
// probability 65521^-2.
//
// Supersteps: q, each with two broadcasts of n^2/p items; sent and received in all: 2n^2/q items.
// Usage: matrix_product [ROWS [SEED]]

#include "spmd.h"

enum { PRIME = 65521 };

// One rank's place in the grid, and its block of every matrix.
typedef struct {
  MPI_Comm all, row, column;
  int side, at_row, at_column;
  int64_t n;
} grid;

static grid make_grid(int64_t n) {
  grid g = {.all = MPI_COMM_NULL, .row = MPI_COMM_NULL, .column = MPI_COMM_NULL, .n = n};
  int rank = world_rank();
  while ((g.side + 1) * (g.side + 1) <= world_size()) ++g.side;
  bool takes_part = rank < g.side * g.side;
  MPI_Comm_split(MPI_COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, rank, &g.all);
  if (!takes_part) return g;
  g.at_row = rank / g.side;
  g.at_column = rank % g.side;
  MPI_Comm_split(g.all, g.at_row, g.at_column, &g.row);
  MPI_Comm_split(g.all, g.at_column, g.at_row, &g.column);
  return g;
}

static int64_t width(const grid* g, int part) {
  return first_of(g->n, g->side, part + 1) - first_of(g->n, g->side, part);
}

static uint32_t* make_block(const grid* g, int64_t seed) {
  int64_t rows = width(g, g->at_row), columns = width(g, g->at_column);
  uint32_t* block = allocate(rows * columns, sizeof *block);
  for (int64_t i = 0; i < rows; ++i) {
    uint64_t row = (uint64_t)(first_of(g->n, g->side, g->at_row) + i);
    for (int64_t j = 0; j < columns; ++j) {
      uint64_t column = (uint64_t)(first_of(g->n, g->side, g->at_column) + j);
      block[i * columns + j] = (uint32_t)below(PRIME, random_at(seed, (row << 32) | column));
    }
  }
  return block;
}

// sums += a * b, for blocks of rows x inner and inner x columns.
static void add_product(const uint32_t* a, const uint32_t* b, uint64_t* sums, int64_t rows,
                        int64_t inner, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < inner; ++k) {
      uint64_t item = a[i * inner + k];
      for (int64_t j = 0; j < columns; ++j) sums[i * columns + j] += item * b[k * columns + j];
    }
}

// Broadcasts the block of rank `root` of a row or column; the others receive into a block of their
// own.
static const uint32_t* share(const uint32_t* mine, uint32_t* panel, int64_t items, int root,
                             bool is_mine, MPI_Comm line) {
  if (is_mine) memcpy(panel, mine, (size_t)items * sizeof *panel);
  MPI_Bcast(panel, to_int(items), MPI_UINT32_T, root, line);
  return panel;
}

static uint32_t* multiply(const grid* g, const uint32_t* a, const uint32_t* b) {
  int64_t rows = width(g, g->at_row), columns = width(g, g->at_column);
  int64_t widest = (g->n + g->side - 1) / g->side;
  uint64_t* sums = allocate(rows * columns, sizeof *sums);
  uint32_t* panel_a = allocate(rows * widest, sizeof *panel_a);
  uint32_t* panel_b = allocate(widest * columns, sizeof *panel_b);
  for (int k = 0; k < g->side; ++k) {
    int64_t inner = width(g, k);
    share(a, panel_a, rows * inner, k, g->at_column == k, g->row);
    share(b, panel_b, inner * columns, k, g->at_row == k, g->column);
    add_product(panel_a, panel_b, sums, rows, inner, columns);
  }
  uint32_t* product = allocate(rows * columns, sizeof *product);
  for (int64_t i = 0; i < rows * columns; ++i) product[i] = (uint32_t)(sums[i] % PRIME);
  free(panel_b);
  free(panel_a);
  free(sums);
  return product;
}

// y = block matrix * x; every rank of the grid has both vectors whole.
static void times_vector(const grid* g, const uint32_t* block, const uint64_t* x, uint64_t* y) {
  int64_t columns = width(g, g->at_column), row = first_of(g->n, g->side, g->at_row);
  const uint64_t* part_of_x = x + first_of(g->n, g->side, g->at_column);
  memset(y, 0, (size_t)g->n * sizeof *y);
  for (int64_t i = 0; i < width(g, g->at_row); ++i)
    for (int64_t j = 0; j < columns; ++j) y[row + i] += block[i * columns + j] * part_of_x[j];
  MPI_Allreduce(MPI_IN_PLACE, y, to_int(g->n), MPI_UINT64_T, MPI_SUM, g->all);
  for (int64_t i = 0; i < g->n; ++i) y[i] %= PRIME;
}

static void check_product(const grid* g, const uint32_t* a, const uint32_t* b, const uint32_t* c,
                          int64_t seed) {
  uint64_t* r = allocate(4 * g->n, sizeof *r);
  uint64_t *br = r + g->n, *abr = br + g->n, *cr = abr + g->n;
  for (int trial = 1; trial <= 2; ++trial) {
    for (int64_t i = 0; i < g->n; ++i) r[i] = below(PRIME, random_at(seed - trial, (uint64_t)i));
    times_vector(g, b, r, br);
    times_vector(g, a, br, abr);
    times_vector(g, c, r, cr);
    expect(memcmp(abr, cr, (size_t)g->n * sizeof *cr) == 0, "A(Br) = Cr");
  }
  free(r);
}

static uint64_t hash_of(const grid* g, const uint32_t* block) {
  int64_t columns = width(g, g->at_column), column = first_of(g->n, g->side, g->at_column);
  int64_t row = first_of(g->n, g->side, g->at_row);
  uint64_t hash = 0;
  for (int64_t i = 0; i < width(g, g->at_row); ++i)
    for (int64_t j = 0; j < columns; ++j)
      hash += mix(mix((uint64_t)((row + i) * g->n + column + j)) ^ block[i * columns + j]);
  return hash;
}

int main(int argc, char** argv) {
  setting settings[] = {{"rows", 300, 1, 1 << 20, NULL}, {"seed", 1, 0, INT64_MAX / 2, NULL}};
  begin(&argc, &argv, settings, 2);
  int64_t n = settings[0].value, seed = settings[1].value;
  grid g = make_grid(n);
  uint64_t hash = 0;
  if (g.all != MPI_COMM_NULL) {
    uint32_t* a = make_block(&g, 2 * seed);
    uint32_t* b = make_block(&g, 2 * seed + 1);
    uint32_t* c = multiply(&g, a, b);
    check_product(&g, a, b, c, -seed);
    hash = hash_of(&g, c);
    free(c);
    free(b);
    free(a);
    MPI_Comm_free(&g.column);
    MPI_Comm_free(&g.row);
    MPI_Comm_free(&g.all);
  }
  hash = checksum_over_ranks(hash);
  if (world_rank() == 0) {
    printf("matrix_product: %" PRId64 " rows, seed %" PRId64 ", %d x %d of %d ranks\n", n, seed,
           g.side, g.side, world_size());
    printf("checksum %016" PRIx64 "\n", hash);
  }
  return finish();
}
