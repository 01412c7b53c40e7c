// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The inputs of a command that takes any number of them: operands, or names in a file.
// Layer: tools.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tools/outsize/options.hpp>

namespace outsize::tool {

/// --files0-from: where the names of the inputs are.
option files0_row(std::optional<std::string>& list);

/// Returns the operands, or the names in `list` if there is one, each of which ends with NUL;
/// without any, "-".
/// @throws usage_error for operands beside a list, and for a list without names or with an empty
/// one; io_error.
std::vector<std::string> all_inputs(std::vector<std::string> operands,
                                    std::optional<std::string> const& list);

}  // namespace outsize::tool
