// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// What the command line of `outsize join` asks for. Layer: tools. Plain values.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <outsize/text/line_join.hpp>
#include <tools/outsize/compression_options.hpp>
#include <tools/outsize/work_options.hpp>

namespace outsize::tool {

struct join_request : work_options {
  text::join_paths paths;
  text::join_options join;
  compression_options codecs;
};

/// Reads a list of columns, "0,1.2,2.1": the join field or FILE.FIELD, parted by commas or blanks.
/// @throws usage_error naming the text.
std::vector<text::join_column> parse_columns(std::string_view text);

/// Reads the arguments; nothing if only help was asked for.
/// @throws usage_error naming the argument that cannot be used.
std::optional<join_request> read_join_request(int argc, char** argv);

}  // namespace outsize::tool
