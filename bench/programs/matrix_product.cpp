// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The product of two square matrices of doubles on disk, and the same work in memory.
//
//   matrix_product product BYTES MEMORY_BYTES THREADS DIRECTORY
//   matrix_product kernel BYTES THREADS
//
// Prints one JSON object. BYTES are those of one matrix. The product is verified by Freivalds'
// check, outside the timed part: the items are small whole numbers, so that it is exact. The kernel
// is timed for matrices of 128 MiB at most; the seconds are those of as many operations as the
// product of the whole ones needs.

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/container/matrix.hpp>

namespace {

using namespace outsize;

/// Of a square matrix of so many bytes.
std::uint64_t side_of(std::uint64_t bytes) {
  return static_cast<std::uint64_t>(std::sqrt(static_cast<double>(bytes / sizeof(double))));
}

/// A whole number below eight.
double small_number(std::uint64_t i) {
  return static_cast<double>((i * 0x9E3779B97F4A7C15U) >> 61);
}

std::vector<double> applied(matrix<double> const& m, std::vector<double> const& x) {
  std::vector<double> y;
  for (std::uint64_t i = 0; i < m.rows(); ++i) {
    auto const row = m.row(i);
    y.push_back(std::inner_product(row.begin(), row.end(), x.begin(), 0.0));
  }
  return y;
}

/// A wrong product is found with a probability of a half at least for each vector.
bool is_product(matrix<double> const& c, matrix<double> const& a, matrix<double> const& b) {
  for (std::uint64_t round = 0; round < 2; ++round) {
    std::vector<double> x;
    for (std::uint64_t i = 0; i < c.columns(); ++i)
      x.push_back(small_number(i * 77 + round + 1) < 4 ? -1 : 1);
    if (applied(c, x) != applied(a, applied(b, x))) return false;
  }
  return true;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void run_product(std::uint64_t bytes, storage_options options) {
  storage store(std::move(options));
  page_pool const pool = matrix_pool(store);
  std::uint64_t const n = side_of(bytes);
  matrix<double> a(pool, n, n), b(pool, n, n);
  a.fill([n](auto i, auto j) { return small_number(i * n + j); });
  b.fill([n](auto i, auto j) { return small_number(i + j * n + 5); });
  auto const before = store.total_statistics();
  auto const begin = std::chrono::steady_clock::now();
  auto const c = a * b;
  double const seconds = seconds_since(begin);
  auto const moved = store.total_statistics() - before;
  fmt::print(
      "{{\"seconds\": {}, \"io_wait_seconds\": {}, \"read_bytes\": {}, \"written_bytes\": {}, "
      "\"verified\": {}}}\n",
      seconds, static_cast<double>(moved.wait_ns) * 1e-9, moved.read_bytes, moved.write_bytes,
      is_product(c, a, b));
}

void run_kernel(std::uint64_t bytes, int threads) {
  std::uint64_t const n = side_of(bytes), in_memory = std::min<std::uint64_t>(n, 4096);
  std::vector<double> a(in_memory * in_memory), b(a.size()), c(a.size());
  for (std::uint64_t i = 0; i < a.size(); ++i) a[i] = b[i] = small_number(i);
  openblas_set_num_threads(threads);
  auto const side = static_cast<blasint>(in_memory);
  double least = HUGE_VAL;
  for (int round = 0; round < 3; ++round) {
    auto const begin = std::chrono::steady_clock::now();
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, side, side, side, 1, a.data(), side,
                b.data(), side, 0, c.data(), side);
    least = std::min(least, seconds_since(begin));
  }
  double const times = static_cast<double>(n) / static_cast<double>(in_memory);
  fmt::print("{{\"work_seconds\": {}}}\n", least * times * times * times);
}

void run(std::vector<std::string_view> const& words) {
  auto const number = [&](std::size_t i) { return std::strtoull(words[i].data(), nullptr, 10); };
  if (words.size() == 6 && words[1] == "product")
    run_product(number(2), {.disks = {disk_options(std::string(words[5]))},
                            .memory_bytes = number(3),
                            .threads = number(4)});
  else if (words.size() == 4 && words[1] == "kernel")
    run_kernel(number(2), static_cast<int>(number(3)));
  else
    throw std::invalid_argument(
        "usage: matrix_product product BYTES MEMORY_BYTES THREADS DIRECTORY | kernel BYTES "
        "THREADS");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run({argv, argv + argc});
    return 0;
  } catch (std::exception const& e) {
    fmt::print(stderr, "matrix_product: {}\n", e.what());
    return 2;
  }
}
