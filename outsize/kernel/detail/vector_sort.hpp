// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// In-memory sorting of unsigned keys and of items with such a key, one thread.
//
// Items are distributed to buckets that fit in cache (bucket_partition.hpp) and sorted there by
// digits (digit_sort.hpp). Where keys are spread too unevenly for that, the vector instructions of
// the machine sort them (Highway; the instruction set is chosen at run time), items of two words by
// proxies of one word (proxy_sort.hpp); very few are compared (decision 0041). Keys of 32 bits go
// by digits on machines that are slow at vectors of them: a trial at the first call decides. Not
// stable, which does not show: equal keys are equal bytes. Layer: kernel. Source: Wassenberg et
// al.: Vectorized and performance-portable Quicksort, 2022; decision 0031
// (docs/decisions/0031-digits-in-cache.md).
//
// Cycles for each of 2^23 random items, one core of a 3.6 GHz Zen 4: 64-bit keys 28, where the
// vector kernel alone takes 34; items of two words 46, by proxies 53.

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

namespace outsize::detail {

/// The word that decides first where an item belongs: a number by itself.
constexpr std::uint64_t key_word(std::uint32_t key) noexcept { return key; }
constexpr std::uint64_t key_word(std::uint64_t key) noexcept { return key; }

/// A key and where its record is: sorted by prefix, then by place.
struct prefix_entry {
  std::uint64_t place;
  std::uint64_t prefix;

  friend constexpr bool operator<(prefix_entry const& a, prefix_entry const& b) noexcept {
    return a.prefix != b.prefix ? a.prefix < b.prefix : a.place < b.place;
  }
  friend constexpr std::uint64_t key_word(prefix_entry const& e) noexcept { return e.prefix; }
};

/// An item of two words, as one number of 128 bits.
struct word_pair {
  std::uint64_t low;
  std::uint64_t high;

  friend bool operator==(word_pair const&, word_pair const&) = default;
  friend constexpr std::strong_ordering operator<=>(word_pair const& a, word_pair const& b) {
    return a.high != b.high ? a.high <=> b.high : a.low <=> b.low;
  }
  /// Without a jump: merges call it with operands that nobody can predict.
  friend constexpr bool operator<(word_pair const& a, word_pair const& b) noexcept {
    return static_cast<bool>((a.high < b.high) | ((a.high == b.high) & (a.low < b.low)));
  }
  friend constexpr std::uint64_t key_word(word_pair const& p) noexcept { return p.high; }
};

/// The order of items for which the key word decides first, and then <. What the kernels ask of an
/// order stands here: word(a) < word(b) only if a comes before b.
struct own_order {
  template <typename T>
  static constexpr std::uint64_t word(T const& item) noexcept {
    return key_word(item);
  }
  template <typename T>
  constexpr bool operator()(T const& a, T const& b) const noexcept {
    return a < b;
  }
};

/// So many items are in cache, and as much memory beside them.
template <typename T>
inline constexpr std::size_t cache_items =
    std::max<std::size_t>(1, (std::size_t{512} << 10) / sizeof(T));

void vector_sort(std::span<std::uint32_t> keys);
void vector_sort(std::span<std::uint64_t> keys);
void vector_sort(std::span<word_pair> keys);
void vector_sort(std::span<prefix_entry> entries);

}  // namespace outsize::detail
