// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A line cut into fields as join(1) does it: without a separator blanks part fields, and those in
// front of the first field belong to none. (For sort(1), line_key.hpp, blanks belong to the field
// behind them.) Layer: text. Pure functions, usable from any number of threads.

#include <optional>
#include <string_view>
#include <vector>

namespace outsize::text {

/// The separator that makes the whole line one field.
inline constexpr char whole_line_separator = '\n';

/// Replaces `fields` by those of `line`; an empty line has none.
void split_fields(std::string_view line, std::optional<char> separator,
                  std::vector<std::string_view>& fields);

/// Compares fields by their bytes, with `fold` as if lower case letters were upper case; returns
/// <0, 0 or >0.
int compare_fields(std::string_view a, std::string_view b, bool fold) noexcept;

}  // namespace outsize::text
