// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/numeric/detail/fft_twiddles.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include <outsize/base/assert.hpp>
#include <outsize/numeric/bit_matrix.hpp>

namespace outsize::numeric {
namespace {

/// e^(2πi index / 2^order_bits): reduced exactly to the first eighth of the circle, so that the
/// angle that is rounded is small and multiples of a quarter turn are exact.
std::complex<double> root_of_unity(std::uint64_t index, unsigned order_bits) {
  // In eighths of the circle; the circle has at least eight parts.
  unsigned const bits = std::max(order_bits, 3U);
  index <<= bits - order_bits;
  std::uint64_t const eighth = std::uint64_t{1} << (bits - 3);
  std::uint64_t const octant = index >> (bits - 3), rest = index & (eighth - 1);
  std::uint64_t const folded = (octant & 1) != 0 ? eighth - rest : rest;
  long double const angle = std::numbers::pi_v<long double> * static_cast<long double>(folded) /
                            (4 * static_cast<long double>(eighth));
  auto x = static_cast<double>(std::cos(angle)), y = static_cast<double>(std::sin(angle));
  if (octant == 1 || octant == 2 || octant == 5 || octant == 6) std::swap(x, y);
  return {octant >= 2 && octant < 6 ? -x : x, octant >= 4 ? -y : y};
}

}  // namespace

fft_twiddles::fft_twiddles(unsigned order_bits, fft_direction direction, double scale)
    : low_bits_((order_bits + 1) / 2),
      low_mask_(low_bits(low_bits_)),
      high_mask_(low_bits(order_bits - low_bits_)) {
  OUTSIZE_ASSERT(order_bits <= 62);
  double const sign = direction == fft_direction::forward ? -1 : 1;
  auto const signed_root = [&](std::uint64_t index) {
    auto const root = root_of_unity(index, order_bits);
    return std::complex<double>(root.real(), sign * root.imag());
  };
  low_.reserve(low_mask_ + 1);  // as much as is said, no more
  high_.reserve(high_mask_ + 1);
  for (std::uint64_t i = 0; i <= low_mask_; ++i) low_.push_back(signed_root(i));
  for (std::uint64_t i = 0; i <= high_mask_; ++i)
    high_.push_back(scale * signed_root(i << low_bits_));
}

void fft_twiddles::multiply_row(std::span<std::complex<double>> row, std::uint64_t first,
                                std::uint64_t step) const noexcept {
  // The factors of a stretch are those of the first one times the outer factor of the stretch. Real
  // and imaginary parts apart: the compiler vectorizes that.
  constexpr std::size_t longest_stretch = 64;
  std::array<double, longest_stretch> inner_real, inner_imag;
  // About as many inner factors as outer ones: each is two loads from tables beyond L1.
  std::size_t const stretch =
      std::min(longest_stretch, std::size_t{1} << (std::bit_width(row.size()) + 1) / 2);
  double const unscale = 1 / high_[0].real();  // both factors of a product carry the scale
  for (std::size_t j = 0; j < std::min(stretch, row.size()); ++j) {
    auto const inner = power(j * step);
    inner_real[j] = inner.real() * unscale;
    inner_imag[j] = inner.imag() * unscale;
  }
  for (std::size_t begin = 0; begin < row.size(); begin += stretch) {
    auto const outer = power((first + begin) * step);
    double const outer_real = outer.real(), outer_imag = outer.imag();
    // An array of complex is one of pairs of doubles.
    auto* const numbers = reinterpret_cast<double*>(row.data() + begin);
    std::size_t const count = std::min(stretch, row.size() - begin);
    for (std::size_t j = 0; j < count; ++j) {
      double const real = outer_real * inner_real[j] - outer_imag * inner_imag[j];
      double const imag = outer_real * inner_imag[j] + outer_imag * inner_real[j];
      double const x = numbers[2 * j], y = numbers[2 * j + 1];
      numbers[2 * j] = x * real - y * imag;
      numbers[2 * j + 1] = x * imag + y * real;
    }
  }
}

}  // namespace outsize::numeric
