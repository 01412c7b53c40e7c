// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A checksum of a collection of byte strings that does not depend on their order, so that a sorted
// file can be held against its input. Layer: tools. A plain value.
//
// Every string is hashed to 64 bits (XXH3), which enter a sum and, multiplied, an exclusive or. Two
// collections that differ agree by chance about once in 2^64: this finds errors, not attacks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace outsize::tool {

struct multiset_checksum {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  std::uint64_t parity = 0;

  void add(std::string_view bytes) noexcept;

  /// Returns 32 hexadecimal digits; the count is not among them.
  std::string text() const;

  friend bool operator==(multiset_checksum const&, multiset_checksum const&) = default;
};

}  // namespace outsize::tool
