// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Keys that are floating-point numbers, -g, as strtold of the C locale reads them: decimal or
// hexadecimal, with exponent, "inf", "nan" or "nan(PAYLOAD)". Layer: text. Does not depend on the
// program's locale and does not allocate. Pure functions, usable from any number of threads.
//
//     no number < NaN, by payload < -inf < ... < -0 = 0 < ... < inf
//
// Equal NaNs are equal here; GNU sort 9.1 leaves that to bytes that it never sets, so which of
// several lines -u keeps, and how lines with equal NaNs follow each other, may differ from it.
#pragma once

#include <cstdint>
#include <string_view>

namespace outsize::text {

/// Compares the numbers at the front of `a` and `b`; returns <0, 0 or >0. Values are rounded to
/// long double first, so numbers that differ less are equal.
int compare_general(std::string_view a, std::string_view b) noexcept;

/// Returns a code such that general_prefix(a) < general_prefix(b) implies that `a` is smaller;
/// numbers have different codes if they differ as double.
std::uint64_t general_prefix(std::string_view text) noexcept;

}  // namespace outsize::text
