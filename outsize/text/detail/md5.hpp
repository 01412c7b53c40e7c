// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The MD5 message digest: here no matter of security, but a shuffling of texts that `sort -R` of
// GNU has fixed. A value; one thread at a time. Layer: text. Source: RFC 1321.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace outsize::detail {

/// Digests what is added.
class md5 {
 public:
  static constexpr std::size_t block_bytes = 64;

  /// The sixteen bytes of a digest as two big-endian numbers: they compare as the bytes do.
  struct digest {
    std::uint64_t high;
    std::uint64_t low;
    auto operator<=>(digest const&) const = default;
  };

  void add(std::string_view text) noexcept;

  /// Ends the message. Nothing may follow.
  digest finish() noexcept;

 private:
  void process(char const* block) noexcept;

  std::array<std::uint32_t, 4> state_{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  std::uint64_t length_ = 0;
  std::array<char, block_bytes> pending_{};  // the end of the message, less than a block
};

}  // namespace outsize::detail
