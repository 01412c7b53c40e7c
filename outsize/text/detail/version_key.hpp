// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Keys that are file names with version numbers inside, -V. Layer: text. Pure functions, usable
// from any number of threads.
//
// A text is a sequence of runs, of other bytes and of digits in turn. Digits compare as a number;
// other bytes in the order ~, end of the run, letters, the rest. Ahead of that come, in this order,
// the empty text, ".", "..", and texts that begin with a dot. A suffix such as ".tar.gz", that is
// (\.[A-Za-z~][A-Za-z0-9~]*)*, decides only between texts that are equal without it.
#pragma once

#include <cstdint>
#include <string_view>

#include <outsize/text/detail/byte_filter.hpp>

namespace outsize::text {

/// Compares `a` and `b` as seen through `filter` (nullptr: as they are); returns <0, 0 or >0.
int compare_version(std::string_view a, std::string_view b, byte_filter const* filter) noexcept;

/// Returns a code such that version_prefix(a) < version_prefix(b) implies that `a` is smaller.
std::uint64_t version_prefix(std::string_view text, byte_filter const* filter) noexcept;

}  // namespace outsize::text
