// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Items of one length in fewer bytes: of each byte of an item, no more bits than it needs in any
// item of the block.
//
//   items:  | A 0 0 7 | B 0 0 3 | A 0 0 5 |         digits, letters, zeros, counters, …
//   data:   | least of each column | bits of each column | code | code | code | slack |
//
// A column is the bytes at one place of all items. Its least byte is taken from all of them, and of
// the differences as many bits are kept as the greatest has: none where all items agree. The bits
// of eight neighbouring columns are gathered in one step, and end with a whole byte.
//
// Invariant: codes are of one length, no longer than items. Decoding goes front to back, and reads
// an item's code before it writes what follows that item by up to seven bytes. Pure functions, the
// same bytes on every machine of one byte order. Layer: codec. Source: Goldstein, Ramakrishnan,
// Shaft: Compressing relations and indexes, ICDE 1998 (frame of reference).

#include <cstddef>
#include <cstdint>
#include <span>

namespace outsize::detail {

/// How bits are gathered: by the processor's instruction where it has a fast one, or by arithmetic.
/// The bytes are the same.
enum class bit_gathering : std::uint8_t { fastest, by_arithmetic };

/// Encodes items of `item_bytes` each. Returns how many bytes of `to` they take; 0 if they do not
/// fit, would not become shorter, or are longer than 4 KiB each. Takes 16 KiB of the stack.
/// @pre the length of `items` is a multiple of `item_bytes`.
std::size_t write_columns(std::span<std::byte const> items, std::size_t item_bytes,
                          std::span<std::byte> to,
                          bit_gathering how = bit_gathering::fastest) noexcept;

/// How many bytes the beginning of `data_bytes` of code must lie behind that of its items, if these
/// are decoded into memory that overlaps it. @pre there are items.
std::size_t lead_of_columns(std::size_t items, std::size_t item_bytes,
                            std::size_t data_bytes) noexcept;

/// Decodes what write_columns() made of just as many bytes. Returns false, without having written
/// anything, if `data` cannot be the code of so many items. Takes 16 KiB of the stack.
/// @pre the length of `items` is a multiple of `item_bytes`.
[[nodiscard]] bool read_columns(std::span<std::byte const> data, std::size_t item_bytes,
                                std::span<std::byte> items,
                                bit_gathering how = bit_gathering::fastest) noexcept;

}  // namespace outsize::detail
