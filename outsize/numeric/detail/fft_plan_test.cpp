// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// All passes of a plan run over arrays with a plain radix-2 kernel, against the definition of the
// transform; every record is counted as it is read and written.

#include <outsize/numeric/detail/fft_plan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <outsize/numeric/detail/fft_twiddles.hpp>

namespace outsize::numeric {
namespace {

using number = std::complex<double>;
using numbers = std::vector<number>;
template <class Real>
using sequence = std::vector<std::complex<Real>>;

/// The powers of the root of unity of this order, in any precision.
template <class Real>
sequence<Real> roots_of_unity(std::size_t order, fft_direction direction) {
  Real const circle = (direction == fft_direction::forward ? -2 : 2) * std::numbers::pi_v<Real>;
  sequence<Real> roots(order);
  for (std::size_t i = 0; i < order; ++i) {
    Real const angle = circle * static_cast<Real>(i) / static_cast<Real>(order);
    roots[i] = {std::cos(angle), std::sin(angle)};
  }
  return roots;
}

/// The transform by halving; the order of the roots is a multiple of the length.
template <class Real>
sequence<Real> transformed(sequence<Real> const& x, sequence<Real> const& roots) {
  if (x.size() == 1) return x;
  std::size_t const half = x.size() / 2, step = roots.size() / x.size();
  sequence<Real> even(half), odd(half), result(x.size());
  for (std::size_t i = 0; i < half; ++i) even[i] = x[2 * i], odd[i] = x[2 * i + 1];
  even = transformed(even, roots);
  odd = transformed(odd, roots);
  for (std::size_t i = 0; i < half; ++i) {
    std::complex<Real> const t = odd[i] * roots[i * step];
    result[i] = even[i] + t;
    result[i + half] = even[i] - t;
  }
  return result;
}

numbers reference(numbers const& x, fft_direction direction) {
  sequence<long double> wide(x.begin(), x.end());
  wide = transformed(wide, roots_of_unity<long double>(x.size(), direction));
  numbers result;
  for (auto const& value : wide)
    result.emplace_back(static_cast<double>(value.real()), static_cast<double>(value.imag()));
  return result;
}

double relative_error(numbers const& got, numbers const& want) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    difference += std::norm(got[i] - want[i]);
    size += std::norm(want[i]);
  }
  return std::sqrt(difference / size);
}

numbers random_numbers(std::size_t count, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  numbers result(count);
  for (auto& value : result) value = {normal(random), normal(random)};
  return result;
}

/// The kernel: the transforms of a load as its shape says, from `source` to `target`, which in an
/// in-place pass are the same.
void transform_load(fft_shape const& shape, bool in_place, fft_direction direction, numbers& source,
                    numbers& target) {
  numbers one(shape.length);
  numbers const roots = roots_of_unity<double>(shape.length, direction);
  for (std::uint64_t g = 0; g < shape.group_count; ++g)
    for (std::uint64_t t = 0; t < shape.count; ++t) {
      std::uint64_t const begin = g * shape.group_distance + t * shape.distance;
      for (std::uint64_t e = 0; e < shape.length; ++e) one[e] = source[begin + e * shape.stride];
      one = transformed(one, roots);
      for (std::uint64_t e = 0; e < shape.length; ++e)
        (in_place ? source[begin + e * shape.stride]
                  : target[t * shape.output_distance + e * shape.output_stride]) = one[e];
    }
}

struct test_run {
  fft_direction direction;
  std::uint64_t least_request;
};

void run_pass(fft_pass const& pass, fft_twiddles const& twiddles, test_run const& run,
              numbers& file, numbers& other) {
  std::vector<int> read(file.size()), written(file.size());
  numbers source(pass.records_per_load()), target(pass.records_per_load());
  numbers& to = pass.is_in_place() ? file : other;
  for (std::uint64_t load = 0; load < pass.load_count(); ++load) {
    for (auto const& [from, place, length] : pass.gathers(load)) {
      ASSERT_GE(length, run.least_request);
      for (std::uint64_t i = 0; i < length; ++i) {
        ++read.at(from + i);
        source.at(place + i) = file[from + i];
      }
    }
    transform_load(pass.shape(), pass.is_in_place(), run.direction, source, target);
    if (pass.is_in_place()) {
      for (std::uint64_t r = 0; r < pass.row_count(); ++r)
        twiddles.multiply_row(std::span(source).subspan(r * pass.row_records(), pass.row_records()),
                              pass.first_low_index(load), pass.twiddle_step(r));
    }
    for (auto const& [where, place, length] : pass.scatters(load)) {
      ASSERT_GE(length, run.least_request);
      for (std::uint64_t i = 0; i < length; ++i) {
        ++written.at(where + i);
        to[where + i] = (pass.is_in_place() ? source : target).at(place + i);
      }
    }
  }
  ASSERT_EQ(std::ranges::count(read, 1), std::ssize(read));
  ASSERT_EQ(std::ranges::count(written, 1), std::ssize(written));
}

/// Carries the plan out.
numbers run_plan(fft_plan const& plan, numbers file, fft_direction direction) {
  numbers other(file.size());
  test_run const run{direction, std::uint64_t{1} << plan.block_bits()};
  fft_twiddles const twiddles(plan.record_bits(), direction);
  for (auto const& pass : plan.passes()) run_pass(pass, twiddles, run, file, other);
  return other;
}

/// Numbers and their transforms in both directions.
struct test_case {
  numbers x, forward, inverse;
};

test_case random_case(unsigned n, std::mt19937_64& random) {
  numbers const x = random_numbers(std::size_t{1} << n, random);
  return {x, reference(x, fft_direction::forward), reference(x, fft_direction::inverse)};
}

void expect_transformed(unsigned n, fft_memory memory, test_case const& data) {
  SCOPED_TRACE("n " + std::to_string(n) + ", m " + std::to_string(memory.memory_bits) + ", b " +
               std::to_string(memory.block_bits));
  fft_plan const plan(n, memory);
  unsigned const m = std::min(memory.memory_bits, n), b = std::min(memory.block_bits, m / 2);
  ASSERT_EQ(plan.passes().size(), n <= m ? 1 : (n + m - b - 1) / (m - b));
  numbers const forward = run_plan(plan, data.x, fft_direction::forward);
  ASSERT_LE(relative_error(forward, data.forward), 1e-13);
  numbers const inverse = run_plan(plan, data.x, fft_direction::inverse);
  ASSERT_LE(relative_error(inverse, data.inverse), 1e-13);
}

TEST(fft_plan, has_a_reference_that_agrees_with_the_definition) {
  std::mt19937_64 random(15);
  for (std::size_t size : {1U, 2U, 8U, 256U}) {
    numbers const x = random_numbers(size, random);
    numbers want(size);
    for (std::size_t k = 0; k < size; ++k)
      for (std::size_t j = 0; j < size; ++j)
        want[k] +=
            x[j] * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k % size) /
                                       static_cast<double>(size));
    EXPECT_LE(relative_error(reference(x, fft_direction::forward), want), 1e-13);
  }
}

TEST(fft_plan, touches_every_record_once_in_each_pass) {
  std::uint64_t const seed = 16;
  std::mt19937_64 random(seed);
  SCOPED_TRACE("seed 16");
  for (unsigned n = 0; n <= 9; ++n) {
    test_case const data = random_case(n, random);
    for (unsigned m = 1; m <= n + 1; ++m)
      for (unsigned b = 0; b <= m; ++b)
        ASSERT_NO_FATAL_FAILURE(expect_transformed(n, {m, b}, data));
  }
}

TEST(fft_plan, transforms_larger_files) {
  std::uint64_t const seed = 17;
  std::mt19937_64 random(seed);
  SCOPED_TRACE("seed 17");
  for (unsigned n = 10; n <= 14; ++n) {
    test_case const data = random_case(n, random);
    for (unsigned b : {1U, 2U, 4U})
      for (unsigned m : {2 * b + 1, n / 2 + b, n - 1})
        ASSERT_NO_FATAL_FAILURE(expect_transformed(n, {m, b}, data));
  }
  expect_transformed(14, {14, 3}, random_case(14, random));
}

TEST(fft_plan, comes_back_with_the_inverse_and_a_scale_in_the_twiddles) {
  std::uint64_t const seed = 18;
  std::mt19937_64 random(seed);
  SCOPED_TRACE("seed 18");
  numbers const x = random_numbers(1 << 12, random);
  fft_plan const plan(12, {8, 2});
  ASSERT_EQ(plan.passes().size(), 2U);
  numbers file = run_plan(plan, x, fft_direction::forward), other(file.size());
  fft_twiddles const scaled(12, fft_direction::inverse, std::ldexp(1.0, -12));
  for (auto const& pass : plan.passes())
    run_pass(pass, scaled, {fft_direction::inverse, 4}, file, other);
  EXPECT_LE(relative_error(other, x), 1e-14);
}

TEST(fft_plan, plans_the_usual_large_files) {
  // 16 GiB with loads of 1 GiB: requests of 32 KiB allow two passes, of 128 KiB need three.
  EXPECT_EQ(fft_plan(30, {26, 11}).passes().size(), 2U);
  EXPECT_EQ(fft_plan(30, {26, 13}).passes().size(), 3U);
  fft_plan const plan(27, {24, 10});
  ASSERT_EQ(plan.passes().size(), 2U);
  EXPECT_EQ(plan.digit_bits()[0], 13U);
  EXPECT_EQ(plan.passes()[0].shape(),
            (fft_shape{1 << 13, 1 << 11, 1 << 11, 1, 1 << 11, 1, 1, 1 << 24}));
  EXPECT_EQ(plan.passes()[1].shape(),
            (fft_shape{1 << 14, 1 << 10, 1, 1 << 14, 1 << 10, 1, 1, 1 << 24}));
  // The last pass reads each load in one piece.
  EXPECT_EQ(plan.passes()[1].gathers(3),
            (std::vector<fft_transfer>{{std::uint64_t{3} << 24, 0, 1 << 24}}));
}

TEST(fft_plan, refuses_a_memory_of_one_number) {
  EXPECT_THROW(fft_plan(3, {0, 0}), std::invalid_argument);
  EXPECT_EQ(fft_plan(0, {0, 0}).passes().size(), 1U);
}

}  // namespace
}  // namespace outsize::numeric
