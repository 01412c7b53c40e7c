// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Where a byte occurs in a text: many places at once, or one far behind.
//
//   "one\ntwo\n\nthree"  '\n'  →  3 7 8
//
// Vector instructions compare 64 bytes at a time, and most places are written without asking how
// many there are, or only counted. Pure functions. Layer: base. Source: Langdale, Lemire: Parsing
// gigabytes of JSON per second, VLDB Journal 2019, section 3.2 (bits to indices).

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace outsize::detail {

/// Writes where `byte` occurs in the first 4 GiB of `text`, from the front, to `places`, and
/// returns how many were found: as many as there are, or as there is room for. What is behind these
/// in `places` may have been written, too.
std::size_t find_byte(std::string_view text, char byte, std::span<std::uint32_t> places) noexcept;

/// Where `byte` occurs for the `n`th time in `text`, counted from 0; the length of the text if it
/// does not so often.
std::size_t find_nth(std::string_view text, char byte, std::size_t n) noexcept;

/// Where the `n`th word of `text`, counted from 0, has ended: the place of the blank behind it
/// (space, tab or line feed), or the length of the text.
std::size_t find_end_of_word(std::string_view text, std::size_t n) noexcept;

}  // namespace outsize::detail
