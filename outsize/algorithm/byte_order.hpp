// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Byte strings in the order of their bytes (memcmp, then length), or the reverse of it.
// A value, safe from any thread. Layer: algorithm.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <outsize/base/byte_words.hpp>

namespace outsize {

/// The order of byte strings by their bytes; a model of record_ordering (record_sorter.hpp).
struct byte_order {
  bool descending = false;

  /// The first eight bytes as a big-endian number, zeros behind a shorter record.
  std::uint64_t prefix(std::string_view record) const noexcept {
    return directed(leading_word(record));
  }

  /// For records whose prefixes are alike, and also their bytes from there to `depth`, 8 or more:
  /// the next seven bytes, and in the last byte how many more than that there are, so that records
  /// that end come before those that go on. Equal numbers mean equal records if one of them
  /// decides().
  std::uint64_t deeper_prefix(std::string_view record, std::size_t depth) const noexcept {
    auto const rest = record.substr(std::min(depth, record.size()));
    // A record of eight bytes or more has `depth` of them; a shorter one, its own number.
    std::size_t const ends = std::min(record.size() + 8 - depth, goes_on);
    return directed((leading_word(rest) & ~std::uint64_t{0xff}) | ends);
  }
  static constexpr std::size_t deeper_bytes = 7;
  bool decides(std::uint64_t deeper) const noexcept { return (directed(deeper) & 0xff) != goes_on; }

  /// Returns <0, 0 or >0 as `a` comes before, with or after `b`.
  int compare(std::string_view a, std::string_view b) const noexcept {
    int const ascending = a.compare(b);
    return descending ? -ascending : ascending;
  }

  bool equal_keys(std::string_view a, std::string_view b) const noexcept { return a == b; }

 private:
  static constexpr std::size_t goes_on = 16;  // there are eight bytes more, or still more

  std::uint64_t directed(std::uint64_t word) const noexcept { return descending ? ~word : word; }
};

}  // namespace outsize
