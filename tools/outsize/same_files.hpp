// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Whether files that a command reads and writes are one: what is written last would be left, or an
// input be written over. Links are followed, and "-" is what the standard streams are.
// Layer: tools.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace outsize::tool {

/// A file that is written, as messages call it.
struct named_output {
  std::string_view name;
  std::optional<std::string> path;
  bool may_be_input = false;  ///< As it is replaced when all has been read.
};

/// Errors:  usage_error if two outputs are one file or stream; if one is an input that may not be;
///          or if one is an input and open already, as standard output is, so that it would be
///          written over while it is read.
void refuse_same_files(std::vector<std::string> const& inputs,
                       std::vector<named_output> const& outputs);

}  // namespace outsize::tool
