// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/byte_places.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

// Compiled once for each instruction set, as far as HWY_AFTER_NAMESPACE.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "outsize/base/detail/byte_places.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace outsize::detail::HWY_NAMESPACE {
namespace {

constexpr std::size_t block_bytes = 64;  // a bit of a word for each

/// A bit for each byte of a block, the lowest for the first one: whether it is `byte`.
std::uint64_t occurrences(char const* block, char byte) noexcept {
  static_assert(std::endian::native == std::endian::little);
  namespace hn = hwy::HWY_NAMESPACE;
  hn::CappedTag<std::uint8_t, block_bytes> const lanes;
  auto const sought = hn::Set(lanes, static_cast<std::uint8_t>(byte));
  std::uint64_t all = 0;
  for (std::size_t at = 0; at < block_bytes; at += hn::Lanes(lanes)) {
    auto const some = hn::LoadU(lanes, reinterpret_cast<std::uint8_t const*>(block + at));
    std::uint64_t bits = 0;
    hn::StoreMaskBits(lanes, some == sought, reinterpret_cast<std::uint8_t*>(&bits));
    all |= bits << at;
  }
  return all;
}

/// Writes the numbers of the bits that are set, each with `first` added, and returns how many they
/// are. There is room for a block's; four are written where there are fewer, which is mostly so.
std::size_t write_places(std::uint64_t bits, std::size_t first, std::uint32_t* to) noexcept {
  constexpr std::size_t at_once = 4;
  auto const count = static_cast<std::size_t>(std::popcount(bits));
  std::size_t written = 0;
  do {
    for (std::size_t i = 0; i < at_once; ++i, bits &= bits - 1)
      to[written + i] =
          static_cast<std::uint32_t>(first + static_cast<unsigned>(std::countr_zero(bits)));
    written += at_once;
  } while (written < count);
  return count;
}

std::size_t find_byte(std::string_view text, char byte, std::span<std::uint32_t> places) {
  text = text.substr(0, std::numeric_limits<std::uint32_t>::max());
  std::size_t at = 0, found = 0;
  for (; at + block_bytes <= text.size() && found + block_bytes <= places.size(); at += block_bytes)
    found += write_places(occurrences(text.data() + at, byte), at, places.data() + found);
  for (; found < places.size(); ++found) {
    std::size_t const next = text.find(byte, at);
    if (next == std::string_view::npos) break;
    places[found] = static_cast<std::uint32_t>(next);
    at = next + 1;
  }
  return found;
}

/// The bits of a text's blocks, from the front, as `bits_of(block)` makes them: the place of the
/// `n`th that is set, or the text's length.
template <typename Bits>
std::size_t find_nth_bit(std::string_view text, std::size_t n, Bits&& bits_of) {
  std::array<char, block_bytes> rest{};
  for (std::size_t at = 0; at < text.size(); at += block_bytes) {
    std::size_t const bytes = std::min(block_bytes, text.size() - at);
    char const* block = text.data() + at;
    if (bytes < block_bytes) {
      std::memcpy(rest.data(), block, bytes);
      block = rest.data();
    }
    std::uint64_t bits = bits_of(block) & (~std::uint64_t{0} >> (block_bytes - bytes));
    auto const count = static_cast<std::size_t>(std::popcount(bits));
    if (n >= count) {
      n -= count;
      continue;
    }
    for (; n > 0; --n) bits &= bits - 1;
    return at + static_cast<std::size_t>(std::countr_zero(bits));
  }
  return text.size();
}

std::size_t find_nth(std::string_view text, char byte, std::size_t n) {
  return find_nth_bit(text, n, [&](char const* block) { return occurrences(block, byte); });
}

std::size_t find_end_of_word(std::string_view text, std::size_t n) {
  std::uint64_t in_word = 0;  // whether the block before ended in one: the lowest bit
  return find_nth_bit(text, n, [&](char const* block) {
    auto const blanks =
        occurrences(block, ' ') | occurrences(block, '\t') | occurrences(block, '\n');
    auto const ends = blanks & (~blanks << 1 | in_word);
    in_word = ~blanks >> (block_bytes - 1);
    return ends;
  });
}

}  // namespace
}  // namespace outsize::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace outsize::detail {

HWY_EXPORT(find_byte);
HWY_EXPORT(find_nth);
HWY_EXPORT(find_end_of_word);

std::size_t find_byte(std::string_view text, char byte, std::span<std::uint32_t> places) noexcept {
  return HWY_DYNAMIC_DISPATCH(find_byte)(text, byte, places);
}

std::size_t find_nth(std::string_view text, char byte, std::size_t n) noexcept {
  return HWY_DYNAMIC_DISPATCH(find_nth)(text, byte, n);
}

std::size_t find_end_of_word(std::string_view text, std::size_t n) noexcept {
  return HWY_DYNAMIC_DISPATCH(find_end_of_word)(text, n);
}

}  // namespace outsize::detail
#endif
