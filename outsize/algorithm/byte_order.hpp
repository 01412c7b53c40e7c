// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Byte strings in the order of their bytes (memcmp, then length), or the reverse of it.
// A value, safe from any thread. Layer: algorithm.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace outsize {

/// The order of byte strings by their bytes; a model of record_ordering (record_sorter.hpp).
struct byte_order {
  bool descending = false;

  /// The first eight bytes as a big-endian number, zeros behind a shorter record.
  std::uint64_t prefix(std::string_view record) const noexcept {
    std::uint64_t word = 0;
    if (!record.empty()) std::memcpy(&word, record.data(), std::min(record.size(), sizeof word));
    if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
    return descending ? ~word : word;
  }

  /// Returns <0, 0 or >0 as `a` comes before, with or after `b`.
  int compare(std::string_view a, std::string_view b) const noexcept {
    int const ascending = a.compare(b);
    return descending ? -ascending : ascending;
  }

  bool equal_keys(std::string_view a, std::string_view b) const noexcept { return a == b; }
};

}  // namespace outsize
