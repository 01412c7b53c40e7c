// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/byte_places.hpp>

#include <algorithm>
#include <bit>
#include <limits>

// Compiled once for each instruction set, as far as HWY_AFTER_NAMESPACE.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "outsize/base/byte_places.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace outsize::HWY_NAMESPACE {
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

}  // namespace
}  // namespace outsize::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace outsize {

HWY_EXPORT(find_byte);

std::size_t find_byte(std::string_view text, char byte, std::span<std::uint32_t> places) noexcept {
  return HWY_DYNAMIC_DISPATCH(find_byte)(text, byte, places);
}

}  // namespace outsize
#endif
