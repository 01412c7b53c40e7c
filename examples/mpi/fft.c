// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The discrete Fourier transform of N = n1 n2 complex numbers by transposition, N a power of two.
// The input is an n1 x n2 matrix in blocks of rows. Transpose; transform the rows (length n1);
// multiply item (j, k) by exp(-2 pi i jk / N); transpose; transform the rows (length n2); transpose
// into natural order. Bailey: FFTs in external or hierarchical memory. J. Supercomputing 4 (1990).
//
// A row is transformed by one rank with the same operations wherever it lies, and transpositions
// only move: the bits of every item depend neither on the number of ranks nor on the order of
// arrival (build with contraction of products and sums off, which -std=c11 does). The checksum is
// of exact bits.
//
// Checked: the inverse transform returns the input; some frequencies against the definition.
//
// Supersteps: three exchanges of N/p items. Link with -lm.
// Usage: fft [LOG2_OF_N [SEED]]

#include <math.h>

#include "spmd.h"

static const double pi = 3.14159265358979323846;

typedef struct {
  double re, im;
} complex_number;

static complex_number product(complex_number a, complex_number b) {
  return (complex_number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// exp(-2 pi i numerator / denominator)
static complex_number root_of_unity(uint64_t numerator, uint64_t denominator) {
  double angle = -2 * pi * (double)(numerator % denominator) / (double)denominator;
  return (complex_number){cos(angle), sin(angle)};
}

// The part of a matrix that this rank holds: some of its rows.
typedef struct {
  int64_t rows, columns;      // of the whole matrix
  int64_t first_row, height;  // of this rank's part
  complex_number* items;
} part;

// The shape of a part, without its items.
static part shape_of(int64_t rows, int64_t columns) {
  part m = {.rows = rows, .columns = columns};
  m.first_row = first_of(rows, world_size(), world_rank());
  m.height = first_of(rows, world_size(), world_rank() + 1) - m.first_row;
  return m;
}

// The block that two ranks exchange: this rank's rows, the other rank's columns.
static int64_t block_items(const part* m, int other) {
  int64_t width =
      first_of(m->columns, world_size(), other + 1) - first_of(m->columns, world_size(), other);
  return m->height * width;
}

static void set_counts(const part* m, int* counts, int* places) {
  int64_t place = 0;
  for (int other = 0; other < world_size(); ++other) {
    counts[other] = to_int(2 * block_items(m, other));
    places[other] = to_int(place);
    place += counts[other];
  }
}

// Replaces a matrix by its transpose.
static void transpose(part* m) {
  int size = world_size();
  part result = shape_of(m->columns, m->rows);
  complex_number* sent = allocate(m->height * m->columns, sizeof *sent);
  complex_number* at = sent;
  for (int64_t column = 0; column < m->columns; ++column)
    for (int64_t row = 0; row < m->height; ++row) *at++ = m->items[row * m->columns + column];
  int* layout = allocate(4 * (int64_t)size, sizeof *layout);
  int *to = layout, *to_at = to + size, *from = to_at + size, *from_at = from + size;
  set_counts(m, to, to_at);
  set_counts(&result, from, from_at);
  free(m->items);
  complex_number* received = allocate(result.height * result.columns, sizeof *received);
  MPI_Alltoallv(sent, to, to_at, MPI_DOUBLE, received, from, from_at, MPI_DOUBLE, MPI_COMM_WORLD);
  free(sent);
  free(layout);
  result.items = allocate(result.height * result.columns, sizeof *result.items);
  at = received;
  for (int source = 0; source < size; ++source) {
    int64_t first = first_of(result.columns, size, source);
    int64_t width = first_of(result.columns, size, source + 1) - first;
    for (int64_t row = 0; row < result.height; ++row, at += width)
      memcpy(result.items + row * result.columns + first, at, (size_t)width * sizeof *at);
  }
  free(received);
  *m = result;
}

// Decimation in time, in place; roots[k] = exp(-2 pi i k / n).
static void transform_row(complex_number* row, int64_t n, const complex_number* roots) {
  for (int64_t i = 1, reversed = 0; i < n; ++i) {
    int64_t bit = n / 2;
    for (; (reversed & bit) != 0; bit /= 2) reversed ^= bit;
    reversed |= bit;
    if (i >= reversed) continue;
    complex_number moved = row[i];
    row[i] = row[reversed];
    row[reversed] = moved;
  }
  for (int64_t half = 1; half < n; half *= 2)
    for (int64_t start = 0; start < n; start += 2 * half)
      for (int64_t k = 0; k < half; ++k) {
        complex_number even = row[start + k];
        complex_number odd = product(row[start + k + half], roots[k * (n / (2 * half))]);
        row[start + k] = (complex_number){even.re + odd.re, even.im + odd.im};
        row[start + k + half] = (complex_number){even.re - odd.re, even.im - odd.im};
      }
}

static void transform_rows(part* m) {
  int64_t n = m->columns;
  complex_number* roots = allocate(n, sizeof *roots);
  for (int64_t k = 0; k < n; ++k) roots[k] = root_of_unity((uint64_t)k, (uint64_t)n);
  for (int64_t row = 0; row < m->height; ++row) transform_row(m->items + row * n, n, roots);
  free(roots);
}

static void twiddle(part* m) {
  uint64_t all = (uint64_t)m->rows * (uint64_t)m->columns;
  for (int64_t row = 0; row < m->height; ++row)
    for (int64_t column = 0; column < m->columns; ++column) {
      complex_number* item = &m->items[row * m->columns + column];
      *item = product(*item, root_of_unity((uint64_t)(m->first_row + row) * (uint64_t)column, all));
    }
}

// Transforms an n1 x n2 matrix, read row by row, into an n2 x n1 one in the same order.
static void transform(part* m) {
  transpose(m);
  transform_rows(m);
  twiddle(m);
  transpose(m);
  transform_rows(m);
  transpose(m);
}

static complex_number input(int64_t seed, uint64_t index) {
  uint64_t random = random_at(seed, index);
  return (complex_number){(double)(random >> 48) / 65536 - 0.5,
                          (double)(random >> 32 & 65535) / 65536 - 0.5};
}

static void swap_parts(part* m) {
  for (int64_t i = 0; i < m->height * m->columns; ++i) {
    double re = m->items[i].re;
    m->items[i].re = m->items[i].im;
    m->items[i].im = re;
  }
}

static uint64_t bits_of(double value) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static uint64_t hash_of(const part* m) {
  uint64_t hash = 0, first = (uint64_t)(m->first_row * m->columns);
  for (int64_t i = 0; i < m->height * m->columns; ++i) {
    uint64_t bits = mix(bits_of(m->items[i].re)) ^ bits_of(m->items[i].im);
    hash += mix(mix(first + (uint64_t)i) ^ mix(bits));
  }
  return checksum_over_ranks(hash);
}

// The definition: the sum over all items of item times root. Only compared, never printed, as the
// order of the sum is MPI's.
static complex_number frequency(uint64_t k, uint64_t n, int64_t seed) {
  int64_t first = first_of((int64_t)n, world_size(), world_rank());
  int64_t end = first_of((int64_t)n, world_size(), world_rank() + 1);
  double sums[2] = {0, 0};
  for (int64_t j = first; j < end; ++j) {
    complex_number root = root_of_unity((uint64_t)((unsigned __int128)k * (uint64_t)j % n), n);
    complex_number term = product(input(seed, (uint64_t)j), root);
    sums[0] += term.re;
    sums[1] += term.im;
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return (complex_number){sums[0], sums[1]};
}

static bool are_close(complex_number a, complex_number b, double tolerance) {
  return fabs(a.re - b.re) <= tolerance && fabs(a.im - b.im) <= tolerance;
}

static void check_frequencies(const part* m, int log2_n, int64_t seed) {
  uint64_t n = UINT64_C(1) << log2_n, first = (uint64_t)(m->first_row * m->columns);
  for (uint64_t trial = 0; trial < 3; ++trial) {
    uint64_t k = trial == 0 ? 0 : below(n, random_at(~seed, trial));
    complex_number right = frequency(k, n, seed);
    bool is_mine = k >= first && k - first < (uint64_t)(m->height * m->columns);
    expect(!is_mine || are_close(m->items[k - first], right, 1e-14 * (double)n + 1e-12),
           "a frequency agrees with its definition");
  }
}

int main(int argc, char** argv) {
  setting settings[] = {{"log2 of N", 12, 0, 36, NULL}, {"seed", 1, 0, INT64_MAX, NULL}};
  begin(&argc, &argv, settings, 2);
  int log2_n = (int)settings[0].value;
  int64_t seed = settings[1].value;
  part m = shape_of(INT64_C(1) << (log2_n / 2), INT64_C(1) << (log2_n - log2_n / 2));
  uint64_t first = (uint64_t)(m.first_row * m.columns);
  m.items = allocate(m.height * m.columns, sizeof *m.items);
  for (int64_t i = 0; i < m.height * m.columns; ++i) m.items[i] = input(seed, first + (uint64_t)i);

  transform(&m);
  uint64_t hash = hash_of(&m);
  check_frequencies(&m, log2_n, seed);

  // The inverse: real and imaginary parts change places before and after, and N divides.
  swap_parts(&m);
  transform(&m);
  swap_parts(&m);
  bool right = true;
  first = (uint64_t)(m.first_row * m.columns);
  double n = (double)(INT64_C(1) << log2_n);
  for (int64_t i = 0; i < m.height * m.columns; ++i) {
    complex_number back = {m.items[i].re / n, m.items[i].im / n};
    right = right && are_close(back, input(seed, first + (uint64_t)i), 1e-13);
  }
  expect(right, "the inverse transform returns the input");
  if (world_rank() == 0) {
    printf("fft: 2^%d items, seed %" PRId64 ", %d ranks\n", log2_n, seed, world_size());
    printf("checksum %016" PRIx64 "\n", hash);
  }
  free(m.items);
  return finish();
}
