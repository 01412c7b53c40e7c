// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Blocks of sorted items of any kind in fewer bytes: items without what they begin with in common
// with the one before, or of one length and each byte in the bits it needs (column_codec.hpp), or
// the whole block by lz4.
//
//   block:     | data | padding | footer |
//   prefixes:  | bytes in common | (length of the rest) | the rest | … for each item |
//
// Up to 254 bytes in common are left out; the length is there for records of varying length only,
// seven bits in a byte. A record that is there again (packed_block.hpp) is one byte, 255. Bytes of
// a block are those of the items, and where these vary in length the table of their ends: lz4 takes
// it as it is, prefixes build it again.
//
// Invariant: a block is decoded front to back within `held_bytes` where it lies at the end and its
// items at the front, and never overtakes what is yet to be decoded. Pure functions of the items.
// Layer: codec. Source: Witten, Moffat, Bell: Managing Gigabytes, 2nd ed., section 4.1 (front
// coding); lz4 by liblz4.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace outsize::detail {

enum class byte_coding : std::uint8_t { prefixes, lz4, columns };

/// All of them.
inline constexpr std::array byte_codings{byte_coding::prefixes, byte_coding::lz4,
                                         byte_coding::columns};

/// How items lie in a block that is not encoded.
struct block_layout {
  std::size_t items = 0;
  std::size_t item_bytes = 0;  ///< 0: they vary, and there is a table of their ends.
};

/// The longest block that decoding needs no more than `held_bytes` for, whatever it becomes; a
/// multiple of `alignment`, or 0.
std::size_t most_content_bytes(std::size_t held_bytes, std::size_t alignment) noexcept;

/// Encodes a block. Returns how many bytes of `to` it takes, a multiple of `alignment`; 0 if these
/// are not less than `content`, or decoding would take more than `held_bytes`.
/// @pre what `content` holds is `layout`.
std::size_t encode_block(byte_coding coding, std::span<std::byte const> content,
                         block_layout layout, std::span<std::byte> to, std::size_t held_bytes,
                         std::size_t alignment) noexcept;

/// Decodes a block, as long as it was encoded, to as many bytes as it had. Both may lie in one
/// piece of `held_bytes`, the items at its beginning and the block at its end. Returns false if the
/// block is not such a one; what `content` holds then is undefined. Takes eight bytes of memory for
/// each item where these vary in length.
[[nodiscard]] bool decode_block(std::span<std::byte const> block, std::span<std::byte> content,
                                block_layout layout);

}  // namespace outsize::detail
