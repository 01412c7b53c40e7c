// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Keys that begin with an English month name, -M. Layer: text. A pure function, usable from any
// number of threads.
#pragma once

#include <string_view>

namespace outsize::text {

/// Returns 1 to 12 if `text`, leading blanks aside, starts with the first three letters of a month
/// in either case, and 0 otherwise.
int month_of(std::string_view text) noexcept;

}  // namespace outsize::text
