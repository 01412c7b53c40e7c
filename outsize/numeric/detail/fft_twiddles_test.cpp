// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Powers of the root of unity against long double, for exponents far beyond N too.

#include <outsize/numeric/detail/fft_twiddles.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <string>

namespace outsize::numeric {
namespace {

using exact_complex = std::complex<long double>;

exact_complex exact_power(unsigned order_bits, std::uint64_t exponent, fft_direction direction) {
  auto const order = std::ldexp(1.0L, static_cast<int>(order_bits));
  std::uint64_t const reduced = exponent & ((std::uint64_t{1} << order_bits) - 1);
  long double const angle =
      2 * std::numbers::pi_v<long double> * (static_cast<long double>(reduced) / order);
  long double const sine = std::sin(angle);
  return {std::cos(angle), direction == fft_direction::forward ? -sine : sine};
}

double distance(std::complex<double> a, exact_complex b) {
  return static_cast<double>(std::abs(exact_complex(a.real(), a.imag()) - b));
}

TEST(fft_twiddles, are_exact_to_about_two_units) {
  std::uint64_t const seed = 13;
  std::mt19937_64 random(seed);
  SCOPED_TRACE("seed 13");
  for (unsigned bits : {0U, 1U, 2U, 3U, 4U, 9U, 30U, 33U})
    for (auto const direction : {fft_direction::forward, fft_direction::inverse}) {
      fft_twiddles const twiddles(bits, direction);
      for (int i = 0; i < 500; ++i) {
        std::uint64_t const exponent = random();
        ASSERT_LT(distance(twiddles.power(exponent), exact_power(bits, exponent, direction)), 5e-16)
            << bits << " " << exponent;
      }
    }
}

TEST(fft_twiddles, are_exact_at_quarter_turns) {
  fft_twiddles const twiddles(10, fft_direction::forward);
  EXPECT_EQ(twiddles.power(0), std::complex<double>(1, 0));
  EXPECT_EQ(twiddles.power(256), std::complex<double>(0, -1));
  EXPECT_EQ(twiddles.power(512 + 1024), std::complex<double>(-1, 0));
  EXPECT_EQ(twiddles.power(768), std::complex<double>(0, 1));
}

TEST(fft_twiddles, multiply_rows_as_number_by_number) {
  std::uint64_t const seed = 14;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE("seed 14, round " + std::to_string(round));
    auto const bits = static_cast<unsigned>(random() % 34);
    double const scale = std::ldexp(1.0, -static_cast<int>(random() % 40));
    fft_twiddles const twiddles(bits, fft_direction::inverse, scale);
    std::vector<std::complex<double>> row(random() % 300, {3, -4});
    std::uint64_t const first = random(), step = random();
    twiddles.multiply_row(row, first, step);
    for (std::size_t j = 0; j < row.size(); ++j) {
      auto const want = exact_complex(3, -4) * static_cast<long double>(scale) *
                        exact_power(bits, (first + j) * step, fft_direction::inverse);
      ASSERT_LT(distance(row[j], want), 5e-15 * scale);
    }
  }
}

}  // namespace
}  // namespace outsize::numeric
