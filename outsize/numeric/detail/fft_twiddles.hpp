// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The powers of the primitive N-th root of unity W = e^(∓2πi/N), N = 2^n, each to about two units
// in the last place, from two tables of √N entries.
//
// W^e = W^(high part of e) · W^(low part of e). Factors are never made from their neighbours by
// multiplication: the error of such a recurrence grows with its length. The exponents are exact,
// since products of 64-bit numbers are exact modulo 2^64 and N divides that. Immutable; any number
// of threads may use one. Layer: numeric.

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace outsize::numeric {

/// The sign of the exponent: forward is X_k = Σ x_j e^(-2πi jk/N), inverse has the other sign; no
/// scaling in either.
enum class fft_direction : std::uint8_t { forward, inverse };

/// Powers of a root of unity.
class fft_twiddles {
 public:
  /// @param order_bits  n; at most 62.
  /// @param scale       A factor of all powers, exact if it is a power of two: 1/N in one pass of
  ///                    an inverse transform saves a pass over the data.
  /// CPU:     O(√N).
  /// Memory:  32 √N bytes or, for odd n, 48 √(N/2): table_bytes().
  fft_twiddles(unsigned order_bits, fft_direction direction, double scale = 1);

  static constexpr std::uint64_t table_bytes(unsigned order_bits) noexcept {
    return sizeof(std::complex<double>) *
           ((std::uint64_t{1} << (order_bits + 1) / 2) + (std::uint64_t{1} << order_bits / 2));
  }

  /// scale · W^exponent; the exponent counts modulo N.
  std::complex<double> power(std::uint64_t exponent) const noexcept {
    auto const low = low_[exponent & low_mask_];
    auto const high = high_[exponent >> low_bits_ & high_mask_];
    return product(high, low);
  }

  /// row[j] *= scale · W^((first + j) · step) for all j: what the row of index `step` of a
  /// transform is multiplied with.
  /// CPU:     About two complex products per number of a long row, without table look-ups.
  void multiply_row(std::span<std::complex<double>> row, std::uint64_t first,
                    std::uint64_t step) const noexcept;

 private:
  // The operator of std::complex looks for infinities.
  static std::complex<double> product(std::complex<double> a, std::complex<double> b) noexcept {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

  unsigned low_bits_;
  std::uint64_t low_mask_;
  std::uint64_t high_mask_;
  std::vector<std::complex<double>> low_;   // W^0 … W^(2^low_bits - 1)
  std::vector<std::complex<double>> high_;  // scale · W^(i · 2^low_bits)
};

}  // namespace outsize::numeric
