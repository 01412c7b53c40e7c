// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Rows of the option table that only store what they are given. The values must outlive the table.
// Layer: tools.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tools/outsize/options.hpp>

namespace outsize::tool {

/// Sets `into` to true.
option flag_row(char letter, std::string name, std::string help, bool& into);

/// Takes any text.
option text_row(char letter, std::string name, std::string value, std::string help,
                std::string& into);
option text_row(char letter, std::string name, std::string value, std::string help,
                std::optional<std::string>& into);

/// Takes a size, of which plain numbers are bytes.
option size_row(std::string name, std::string help, std::uint64_t& into);

/// --json: where to write a report.
option json_row(std::optional<std::string>& into);

/// -o and --output, once or always the same. `given` tells whether there was one.
option output_row(std::string& into, bool& given, std::string help);
option output_row(std::string& into, std::string help);

/// Notes the path of an output, of which there is one: if one is `given`, `path` must be the same.
/// Errors:  usage_error naming both.
void set_output(std::string_view path, std::string& into, bool& given);

}  // namespace outsize::tool
