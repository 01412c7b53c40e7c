// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Bits of a word gathered side by side, and scattered again.
//
//   word  …0101 …1100 …0011      kept  …0001 …1111 …0000      gathered  11100 1
//
// By arithmetic, or by the instructions that x86-64 has for it: a function that OUTSIZE_BMI2
// precedes may use these, if has_fast_bit_instructions() says so at run time. Elsewhere there are
// none. Pure functions. Layer: base. Source: Warren: Hacker's Delight, 2nd ed., sections 7-4 and
// 7-5.

#include <bit>
#include <cstdint>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#define OUTSIZE_BMI2 [[gnu::target("bmi2")]]
#else
#define OUTSIZE_BMI2
#endif

namespace outsize::detail {

/// For words of which `kept` has the lowest bits of each byte: as many steps as there are bytes.
struct bit_arithmetic {
  /// The bits of `word` that `kept` has, lowest first.
  static std::uint64_t gather(std::uint64_t word, std::uint64_t kept) noexcept {
    std::uint64_t bits = 0;
    unsigned begin = 0;
    for (unsigned at = 0; at < word_bits; at += byte_bits) {
      std::uint64_t const mask = kept >> at & byte_mask;
      if (mask == 0) continue;
      bits |= (word >> at & mask) << begin;
      begin += static_cast<unsigned>(std::bit_width(mask));
    }
    return bits;
  }

  /// A word with the lowest of `bits` where `kept` has ones, and zeros elsewhere.
  static std::uint64_t scatter(std::uint64_t bits, std::uint64_t kept) noexcept {
    std::uint64_t word = 0;
    for (unsigned at = 0; at < word_bits; at += byte_bits) {
      std::uint64_t const mask = kept >> at & byte_mask;
      word |= (bits & mask) << at;
      bits >>= std::bit_width(mask);
    }
    return word;
  }

 private:
  static constexpr unsigned word_bits = std::numeric_limits<std::uint64_t>::digits;
  static constexpr unsigned byte_bits = std::numeric_limits<std::uint8_t>::digits;
  static constexpr std::uint64_t byte_mask = 0xFF;
};

#if defined(__x86_64__)

/// The same in one instruction each, for any bits.
struct bit_instructions {
  OUTSIZE_BMI2 static std::uint64_t gather(std::uint64_t word, std::uint64_t kept) noexcept {
    return _pext_u64(word, kept);
  }
  OUTSIZE_BMI2 static std::uint64_t scatter(std::uint64_t bits, std::uint64_t kept) noexcept {
    return _pdep_u64(bits, kept);
  }
};

/// Whether bit_instructions may be used and are better than arithmetic: some processors work
/// through them bit by bit.
inline bool has_fast_bit_instructions() noexcept {
  static bool const fast = __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_is("bdver4") == 0 &&
                           __builtin_cpu_is("znver1") == 0 && __builtin_cpu_is("znver2") == 0;
  return fast;
}

#else

using bit_instructions = bit_arithmetic;

inline bool has_fast_bit_instructions() noexcept { return false; }

#endif

}  // namespace outsize::detail
