// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// In-memory sorting of unsigned keys with the vector instructions of the machine (Highway), one
// thread.
//
// The instruction set is chosen at run time. Not stable, which does not show: equal keys are equal
// bytes. Layer: algorithm. Source: Wassenberg et al.: Vectorized and performance-portable
// Quicksort, 2022.

#include <compare>
#include <cstdint>
#include <span>

namespace outsize::detail {

/// A key and where its record is: sorted by prefix, then by place.
struct prefix_entry {
  std::uint64_t place;
  std::uint64_t prefix;
};

/// An item of two words, as one number of 128 bits.
struct word_pair {
  std::uint64_t low;
  std::uint64_t high;

  friend bool operator==(word_pair const&, word_pair const&) = default;
  friend constexpr std::strong_ordering operator<=>(word_pair const& a, word_pair const& b) {
    return a.high != b.high ? a.high <=> b.high : a.low <=> b.low;
  }
};

void vector_sort(std::span<std::uint32_t> keys);
void vector_sort(std::span<std::uint64_t> keys);
void vector_sort(std::span<word_pair> keys);
void vector_sort(std::span<prefix_entry> entries);

}  // namespace outsize::detail
