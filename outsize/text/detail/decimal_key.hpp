// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Keys that are decimal numbers, -n, and decimal numbers with a unit, -h. Layer: text. Numbers of
// any length compare exactly, since digits are compared and never converted. Pure functions, usable
// from any number of threads.
//
//     text    blanks [-] digits [. digits] [unit] anything        an empty number is zero, so is -0
//     unit    one of K k M G T P E Z Y                            -h only
//
// With a unit the unit alone decides unless it is the same: 1M follows 9999K, and -1M precedes -2K.
#pragma once

#include <cstdint>
#include <string_view>

namespace outsize::text {

/// Compares the numbers at the front of `a` and `b`; returns <0, 0 or >0.
int compare_decimal(std::string_view a, std::string_view b) noexcept;

/// Returns a code such that decimal_prefix(a) < decimal_prefix(b) implies that `a` is the smaller
/// number; numbers of up to 17 digits (leading zeros aside) that differ have different codes.
std::uint64_t decimal_prefix(std::string_view text) noexcept;

/// Compares the units at the front of `a` and `b`, then the numbers. With `fold` units may be in
/// lower case; without, only k may.
int compare_human(std::string_view a, std::string_view b, bool fold) noexcept;

/// Returns a code that stands to compare_human as decimal_prefix does to compare_decimal.
std::uint64_t human_prefix(std::string_view text, bool fold) noexcept;

}  // namespace outsize::text
