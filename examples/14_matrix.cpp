// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Matrices larger than memory: three of 8 MiB each, with 4 MiB.

#include <cstdint>
#include <iostream>
#include <numeric>
#include <utility>

#include <outsize/base/units.hpp>
#include <outsize/container/matrix.hpp>

int main() {
  using namespace outsize;
  storage store({.memory_bytes = 5_MiB});
  page_pool const pool = matrix_pool(store);  // what matrices share to be computed with

  matrix<double> a(pool, 1024, 1024), b(pool, 1024, 1024);
  a.fill([](auto i, auto j) { return i <= j ? 1 : 0; });  // sums of what is below
  b.fill([](auto i, auto j) { return i == j ? 2 : 1; });

  matrix<double> c = a * b;
  c += transposed(c);
  if (c(10, 1000) != c(1000, 10)) return 1;
  std::cout << c(0, 0) << ' ' << c(10, 1000) << ' ' << c(1023, 1023) << '\n';

  auto const row = std::as_const(c).row(512);  // iterators with random access, as column(j)
  double const sum = std::accumulate(row.begin(), row.end(), 0.0);
  std::cout << "row 512 adds up to " << static_cast<std::int64_t>(sum) << '\n';
}
