// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Byte strings in the order of their bytes (memcmp, then length), or the reverse of it.
// A value, safe from any thread. Layer: kernel.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include <outsize/base/detail/byte_words.hpp>
#include <outsize/kernel/deepening_order.hpp>

namespace outsize {

/// The order of byte strings by their bytes; a model of record_ordering (record_sorter.hpp).
struct byte_order {
  bool descending = false;

  /// The first eight bytes as a big-endian number, zeros behind a shorter record.
  std::uint64_t prefix(std::string_view record) const noexcept {
    return directed(detail::leading_word(record));
  }

  /// Whether equal prefixes mean equal records, if those have that length.
  static bool prefix_is_whole_key(std::size_t record_bytes) noexcept {
    return record_bytes <= sizeof(std::uint64_t);
  }

  // A deepening_order of one key, the record. Depths are of eight bytes and more, zeros behind
  // shorter records included, or of no more bytes than the records have.

  static key_depth prefix_depth(std::uint64_t) noexcept { return {.bytes = sizeof(std::uint64_t)}; }

  /// The next seven bytes, and in the last byte how many more than that there are, so that records
  /// that end come before those that go on.
  std::uint64_t deeper_prefix(std::string_view record, key_depth depth) const noexcept {
    auto const rest = record.substr(std::min(depth.bytes, record.size()));
    // A record of eight bytes or more has `depth` of them; a shorter one, its own number.
    std::size_t const ends = std::min(record.size() + 8 - depth.bytes, goes_on);
    return directed((detail::leading_word(rest) & ~std::uint64_t{0xff}) | ends);
  }
  key_depth deeper_depth(std::uint64_t deeper, key_depth depth) const noexcept {
    bool const ends = (directed(deeper) & 0xff) != goes_on;
    return ends ? whole : key_depth{.bytes = depth.bytes + 7};
  }

  static key_depth common_depth(std::string_view a, std::string_view b, key_depth depth) noexcept {
    auto const rest_a = a.substr(std::min(depth.bytes, a.size()));
    auto const rest_b = b.substr(std::min(depth.bytes, b.size()));
    std::size_t const common = detail::common_prefix_bytes(rest_a, rest_b);
    bool const are_equal = a.size() == b.size() && common == rest_a.size();
    return are_equal ? whole : key_depth{.bytes = depth.bytes + common};
  }
  static bool is_whole_key(key_depth depth) noexcept { return depth >= whole; }
  static constexpr std::size_t most_looks = std::numeric_limits<std::size_t>::max();

  /// Returns <0, 0 or >0 as `a` comes before, with or after `b`.
  int compare(std::string_view a, std::string_view b) const noexcept {
    int const ascending = a.compare(b);
    return descending ? -ascending : ascending;
  }

  bool equal_keys(std::string_view a, std::string_view b) const noexcept { return a == b; }
  static bool equals_are_alike() noexcept { return true; }

 private:
  static constexpr std::size_t goes_on = 16;  // there are eight bytes more, or still more
  static constexpr key_depth whole{.key = 1};

  std::uint64_t directed(std::uint64_t word) const noexcept { return descending ? ~word : word; }
};

}  // namespace outsize
