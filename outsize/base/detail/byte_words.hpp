// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Byte strings by words: how one begins, how far two are alike, and copies of short ones.
//
//   "abcdefghi"  →  0x6162636465666768        "abc"  →  0x6162630000000000
//
// Loads have fixed widths and stay inside of the string: two that overlap take the place of a loop.
// Pure functions. Layer: base.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace outsize::detail {

/// What lies at `bytes`, the first byte as the uppermost one.
template <typename Word>
Word big_endian_at(char const* bytes) noexcept {
  Word word;
  std::memcpy(&word, bytes, sizeof word);
  if constexpr (std::endian::native == std::endian::big) return word;
  if constexpr (sizeof word == 8) {
    return __builtin_bswap64(word);
  } else {
    return __builtin_bswap32(word);
  }
}

/// The first eight bytes as a big-endian number, zeros behind a shorter string: of two such numbers
/// the lesser one belongs to the lesser string.
inline std::uint64_t leading_word(std::string_view bytes) noexcept {
  std::size_t const size = bytes.size();
  char const* const at = bytes.data();
  if (size >= 8) return big_endian_at<std::uint64_t>(at);
  if (size >= 4) {
    std::uint64_t const front = big_endian_at<std::uint32_t>(at);
    std::uint64_t const back = big_endian_at<std::uint32_t>(at + size - 4);
    return front << 32 | back << (64 - 8 * size);
  }
  if (size == 0) return 0;
  auto const byte = [at](std::size_t i) {
    return std::uint64_t{static_cast<unsigned char>(at[i])} << (56 - 8 * i);
  };
  return byte(0) | byte(size / 2) | byte(size - 1);
}

/// How many first bytes of `a` and `b` agree.
inline std::size_t common_prefix_bytes(std::string_view a, std::string_view b) noexcept {
  constexpr std::size_t word = sizeof(std::uint64_t);
  std::size_t const most = std::min(a.size(), b.size());
  auto const differing = [&](std::size_t at) {
    return big_endian_at<std::uint64_t>(a.data() + at) ^
           big_endian_at<std::uint64_t>(b.data() + at);
  };
  auto const equal_bytes = [](std::uint64_t differing_bits) {
    return static_cast<std::size_t>(std::countl_zero(differing_bits)) / 8;
  };
  if (most < word) return std::min(most, equal_bytes(leading_word(a) ^ leading_word(b)));
  for (std::size_t at = 0; at + word <= most; at += word)
    if (std::uint64_t const bits = differing(at)) return at + equal_bytes(bits);
  // What is left of the last word begins in the one before, whose bytes agree.
  return most - word + equal_bytes(differing(most - word));
}

/// Of so few bytes copy_short() reads all before it writes any.
inline constexpr std::size_t most_short_bytes = 32;

/// Copies bytes, and returns the end of the copies; most often so few that a call would cost more.
inline std::byte* copy_short(std::string_view from, std::byte* to) noexcept {
  std::size_t const size = from.size();
  char const* const at = from.data();
  // Two pieces of the same length, which overlap where the size is less than both.
  auto const copy_ends = [&]<typename Piece>(Piece first) {
    Piece last;
    std::memcpy(&first, at, sizeof first);
    std::memcpy(&last, at + size - sizeof last, sizeof last);
    std::memcpy(to, &first, sizeof first);
    std::memcpy(to + size - sizeof last, &last, sizeof last);
  };
  struct sixteen {
    std::uint64_t words[2];
  };
  static_assert(most_short_bytes == 2 * sizeof(sixteen));
  if (size > most_short_bytes) {
    std::memcpy(to, at, size);
  } else if (size >= sizeof(sixteen)) {
    copy_ends(sixteen{});
  } else if (size >= 8) {
    copy_ends(std::uint64_t{});
  } else if (size >= 4) {
    copy_ends(std::uint32_t{});
  } else if (size >= 2) {
    copy_ends(std::uint16_t{});
  } else if (size == 1) {
    *to = static_cast<std::byte>(*at);
  }
  return to + size;
}

}  // namespace outsize::detail
