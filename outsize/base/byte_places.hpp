// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Where a byte occurs in a text: many places at once.
//
//   "one\ntwo\n\nthree"  '\n'  →  3 7 8
//
// Vector instructions compare 64 bytes at a time, and most places are written without asking how
// many there are. Pure function. Layer: base. Source: Langdale, Lemire: Parsing gigabytes of JSON
// per second, VLDB Journal 2019, section 3.2 (bits to indices).

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace outsize {

/// Writes where `byte` occurs in the first 4 GiB of `text`, from the front, to `places`, and
/// returns how many were found: as many as there are, or as there is room for. What is behind these
/// in `places` may have been written, too.
std::size_t find_byte(std::string_view text, char byte, std::span<std::uint32_t> places) noexcept;

}  // namespace outsize
