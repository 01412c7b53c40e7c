// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Conway's game of life on a torus, the shortest of stencils. The ranks form an a x b grid, for any
// number of ranks, and every rank has a block of cells with a border of one cell. Before each
// generation the border is filled from the neighbours: first columns, with Isend and Irecv, then
// whole rows with Sendrecv, which brings the corners along. Kjolstad, Snir: Ghost cell pattern.
// ParaPLoP 2010.
//
// The first generation is a random set of gliders, at most one in each 8 x 8 tile, all of the same
// direction. They never meet, and four generations move all of them by one cell down and to the
// right: each cell of the last generation is known beforehand.
//
// Supersteps: two per generation; sent and received: 2(n/a + n/b) + 4 cells.
// Usage: stencil [CELLS_A_SIDE [PERIODS_OF_FOUR_GENERATIONS [SEED]]]

#include "spmd.h"

enum { TILE = 8 };

typedef struct {
  int rank, left, right, up, down;
  int64_t n, first_row, first_column, rows, columns;
  uint8_t *cells, *next;  // (rows + 2) x (columns + 2)
} block;

static uint8_t* cell(const block* b, uint8_t* cells, int64_t row, int64_t column) {
  return cells + (row + 1) * (b->columns + 2) + column + 1;
}

// The cell of the first generation at a place of the torus.
static uint8_t first_generation(int64_t n, int64_t row, int64_t column, int64_t seed) {
  static const char glider[] = ".X...XXXX";
  int64_t tile = (row / TILE) * (n / TILE) + column / TILE;
  row = row % TILE - 2;
  column = column % TILE - 2;
  bool inside = row >= 0 && row < 3 && column >= 0 && column < 3;
  return inside && glider[3 * row + column] == 'X' && (random_at(seed, (uint64_t)tile) & 1) != 0;
}

static block make_block(int64_t n, int64_t seed) {
  block b = {.rank = world_rank(), .n = n};
  int size = world_size(), high = 1;
  for (int a = 1; a * a <= size; ++a)
    if (size % a == 0) high = a;
  int wide = size / high, i = b.rank / wide, j = b.rank % wide;
  if (n < wide) refuse("%d ranks need at least %d cells a side", size, wide);
  b.left = i * wide + (j + wide - 1) % wide;
  b.right = i * wide + (j + 1) % wide;
  b.up = (i + high - 1) % high * wide + j;
  b.down = (i + 1) % high * wide + j;
  b.first_row = first_of(n, high, i);
  b.first_column = first_of(n, wide, j);
  b.rows = first_of(n, high, i + 1) - b.first_row;
  b.columns = first_of(n, wide, j + 1) - b.first_column;
  b.cells = allocate((b.rows + 2) * (b.columns + 2), 1);
  b.next = allocate((b.rows + 2) * (b.columns + 2), 1);
  for (int64_t row = 0; row < b.rows; ++row)
    for (int64_t column = 0; column < b.columns; ++column)
      *cell(&b, b.cells, row, column) =
          first_generation(n, b.first_row + row, b.first_column + column, seed);
  return b;
}

static void copy_column(const block* b, int64_t column, uint8_t* outside, bool into_block) {
  for (int64_t row = 0; row < b->rows; ++row) {
    uint8_t* inside = cell(b, b->cells, row, column);
    if (into_block)
      *inside = outside[row];
    else
      outside[row] = *inside;
  }
}

enum { TO_LEFT, TO_RIGHT, TO_UP, TO_DOWN };

static void exchange_columns(const block* b, uint8_t* buffers) {
  int count = to_int(b->rows);
  uint8_t *left = buffers, *right = left + count, *from_left = right + count;
  uint8_t* from_right = from_left + count;
  MPI_Request requests[4];
  MPI_Irecv(from_left, count, MPI_UINT8_T, b->left, TO_RIGHT, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(from_right, count, MPI_UINT8_T, b->right, TO_LEFT, MPI_COMM_WORLD, &requests[1]);
  copy_column(b, 0, left, false);
  copy_column(b, b->columns - 1, right, false);
  MPI_Isend(left, count, MPI_UINT8_T, b->left, TO_LEFT, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(right, count, MPI_UINT8_T, b->right, TO_RIGHT, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  copy_column(b, -1, from_left, true);
  copy_column(b, b->columns, from_right, true);
}

static void exchange_rows(const block* b) {
  int count = to_int(b->columns + 2);
  MPI_Sendrecv(cell(b, b->cells, 0, -1), count, MPI_UINT8_T, b->up, TO_UP,
               cell(b, b->cells, b->rows, -1), count, MPI_UINT8_T, b->down, TO_UP, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(cell(b, b->cells, b->rows - 1, -1), count, MPI_UINT8_T, b->down, TO_DOWN,
               cell(b, b->cells, -1, -1), count, MPI_UINT8_T, b->up, TO_DOWN, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

static void live(block* b) {
  for (int64_t row = 0; row < b->rows; ++row) {
    const uint8_t* above = cell(b, b->cells, row - 1, -1);
    const uint8_t* here = cell(b, b->cells, row, -1);
    const uint8_t* below_it = cell(b, b->cells, row + 1, -1);
    uint8_t* next = cell(b, b->next, row, 0);
    for (int64_t j = 0; j < b->columns; ++j) {
      int neighbours = above[j] + above[j + 1] + above[j + 2] + here[j] + here[j + 2] +
                       below_it[j] + below_it[j + 1] + below_it[j + 2];
      next[j] = neighbours == 3 || (neighbours == 2 && here[j + 1] != 0);
    }
  }
  uint8_t* old = b->cells;
  b->cells = b->next;
  b->next = old;
}

int main(int argc, char** argv) {
  setting settings[] = {{"cells a side", 256, TILE, 1 << 24, NULL},
                        {"periods", 8, 0, INT64_C(1) << 30, NULL},
                        {"seed", 1, 0, INT64_MAX, NULL}};
  begin(&argc, &argv, settings, 3);
  int64_t n = settings[0].value, periods = settings[1].value, seed = settings[2].value;
  if (n % TILE != 0) refuse("the cells a side must be a multiple of %d", TILE);
  block b = make_block(n, seed);
  uint8_t* buffers = allocate(4 * b.rows, 1);
  for (int64_t generation = 0; generation < 4 * periods; ++generation) {
    exchange_columns(&b, buffers);
    exchange_rows(&b);
    live(&b);
  }

  bool right = true;
  int64_t alive = 0;
  uint64_t hash = 0;
  for (int64_t row = 0; row < b.rows; ++row)
    for (int64_t column = 0; column < b.columns; ++column) {
      int64_t i = b.first_row + row, j = b.first_column + column;
      int64_t moved = periods % n;
      uint8_t value = *cell(&b, b.cells, row, column);
      right = right && value == first_generation(n, (i + n - moved) % n, (j + n - moved) % n, seed);
      alive += value;
      if (value != 0) hash += mix((uint64_t)(i * n + j));
    }
  expect(right, "every glider has moved by one cell in each period");
  alive = sum_over_ranks(alive);
  hash = checksum_over_ranks(hash);
  if (b.rank == 0) {
    printf("stencil: %" PRId64 " x %" PRId64 " cells, %" PRId64 " generations, seed %" PRId64
           ", %d ranks\n",
           n, n, 4 * periods, seed, world_size());
    printf("%" PRId64 " cells are alive, checksum %016" PRIx64 "\n", alive, hash);
  }
  free(buffers);
  free(b.next);
  free(b.cells);
  return finish();
}
