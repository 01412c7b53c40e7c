// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Transforms of loads in chunks, against the definition; the same bits for any number of threads.

#include <outsize/numeric/detail/fft_kernel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include <outsize/base/units.hpp>

namespace outsize::numeric {
namespace {

using number = std::complex<double>;
using numbers = std::vector<number>;

/// The definition, in higher precision.
numbers transformed(numbers const& x, fft_direction direction) {
  using wide = std::complex<long double>;
  long double const circle =
      (direction == fft_direction::forward ? -2 : 2) * std::numbers::pi_v<long double>;
  numbers result(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    wide sum = 0;
    for (std::size_t j = 0; j < x.size(); ++j)
      sum += wide(x[j]) * std::polar(1.0L, circle * static_cast<long double>(j * k % x.size()) /
                                               static_cast<long double>(x.size()));
    result[k] = number(sum);
  }
  return result;
}

double relative_error(numbers const& got, numbers const& want) {
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    error += std::norm(got[i] - want[i]);
    norm += std::norm(want[i]);
  }
  return std::sqrt(error / norm);
}

numbers random_numbers(std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::uniform_real_distribution<double> uniform(-1, 1);
  numbers x(count);
  for (auto& each : x) each = {uniform(random), uniform(random)};
  return x;
}

class fft_kernels : public testing::TestWithParam<fft_direction> {
 protected:
  static constexpr std::size_t chunk_count = 4;

  /// Runs `kernel(chunks, threads)` on a load that lies in separate chunks.
  template <typename Kernel>
  numbers run(numbers const& load, std::size_t thread_count, Kernel const& kernel) {
    grant buffers = memory.take(1_MiB, "chunks");
    std::vector<buffer> held;
    std::array<number*, chunk_count> chunks{};
    std::size_t const each = load.size() / chunk_count;
    for (std::size_t c = 0; c < chunk_count; ++c) {
      held.push_back(buffers.allocate(each * sizeof(number)));
      chunks[c] = reinterpret_cast<number*>(held.back().data());
      std::copy_n(load.begin() + static_cast<std::ptrdiff_t>(c * each), each, chunks[c]);
    }
    executor threads(thread_count);
    kernel(fft_chunks(chunks), threads);
    numbers result;
    for (number const* chunk : chunks) result.insert(result.end(), chunk, chunk + each);
    return result;
  }

  memory_budget memory{16_MiB};
};

INSTANTIATE_TEST_SUITE_P(directions, fft_kernels,
                         testing::Values(fft_direction::forward, fft_direction::inverse),
                         [](auto const& direction_of) {
                           return direction_of.param == fft_direction::forward ? "forward"
                                                                               : "inverse";
                         });

TEST_P(fft_kernels, transform_a_line) {
  for (std::size_t length = 1; length <= 512; length *= 2) {
    auto const x = random_numbers(length);
    grant lines = memory.take(1_MiB, "line");
    buffer const aligned = lines.allocate(length * sizeof(number));
    auto* const at = reinterpret_cast<number*>(aligned.data());
    std::copy(x.begin(), x.end(), at);
    fft_line const line(length, GetParam());
    EXPECT_EQ(line.length(), length);
    line(at);
    EXPECT_LT(relative_error(numbers(at, at + length), transformed(x, GetParam())), 1e-15 * 10);
  }
}

TEST_P(fft_kernels, transform_columns_and_multiply_them) {
  fft_plan const plan(12, {.memory_bits = 9, .block_bits = 2});
  fft_pass const& pass = plan.passes()[0];
  ASSERT_FALSE(pass.is_last());
  fft_twiddles const twiddles(plan.record_bits(), GetParam());
  grant scratch = memory.take(4_MiB, "kernel");
  for (std::uint64_t load = 0; load < pass.load_count(); load += 3) {
    auto const in = random_numbers(pass.records_per_load());
    auto const& shape = pass.shape();
    numbers want = in;
    for (std::uint64_t g = 0; g < shape.group_count; ++g)
      for (std::uint64_t t = 0; t < shape.count; ++t) {
        std::uint64_t const base = g * shape.group_distance + t * shape.distance;
        numbers column;
        for (std::uint64_t e = 0; e < shape.length; ++e)
          column.push_back(in[base + e * shape.stride]);
        column = transformed(column, GetParam());
        for (std::uint64_t e = 0; e < shape.length; ++e) want[base + e * shape.stride] = column[e];
      }
    for (std::uint64_t r = 0; r < pass.row_count(); ++r)
      twiddles.multiply_row(std::span(want).subspan(r * pass.row_records(), pass.row_records()),
                            pass.first_low_index(load), pass.twiddle_step(r));
    numbers first;
    for (std::size_t const workers : {1, 3}) {
      column_kernel const kernel(pass, GetParam(), workers, scratch);
      auto const got = run(in, workers, [&](fft_chunks chunks, executor& threads) {
        kernel(load, chunks, twiddles, threads);
      });
      EXPECT_LT(relative_error(got, want), 1e-14) << "load " << load << ", " << workers;
      if (first.empty()) first = got;
      EXPECT_TRUE(got == first) << "load " << load;
    }
  }
}

TEST_P(fft_kernels, transform_rows_that_lie_in_chunks_of_columns) {
  fft_plan const plan(12, {.memory_bits = 9, .block_bits = 2});
  fft_pass const& pass = plan.passes().back();
  ASSERT_TRUE(pass.is_last());
  std::size_t const length = pass.shape().length, rows = pass.records_per_load() / length;
  std::size_t const columns = length / chunk_count;  // of a chunk
  auto const in = random_numbers(pass.records_per_load());
  auto const place = [&](std::size_t row, std::size_t column) {
    return column / columns * rows * columns + row * columns + column % columns;
  };
  numbers want(in.size());
  for (std::size_t r = 0; r < rows; ++r) {
    numbers row;
    for (std::size_t e = 0; e < length; ++e) row.push_back(in[place(r, e)]);
    row = transformed(row, GetParam());
    for (std::size_t e = 0; e < length; ++e) want[place(r, e)] = row[e];
  }
  grant scratch = memory.take(4_MiB, "kernel");
  numbers first;
  for (std::size_t const workers : {1, 3}) {
    row_kernel const kernel(pass, GetParam(), workers, scratch);
    auto const got =
        run(in, workers, [&](fft_chunks chunks, executor& threads) { kernel(chunks, threads); });
    EXPECT_LT(relative_error(got, want), 1e-14);
    if (first.empty()) first = got;
    EXPECT_TRUE(got == first);
  }
}

}  // namespace
}  // namespace outsize::numeric
