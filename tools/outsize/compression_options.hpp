// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The options that say which inputs are decompressed and how the output is compressed. Layer:
// tools. Plain values, and the rows of the option table that fill them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <outsize/algorithm/sort/sort_options.hpp>
#include <outsize/io/compression.hpp>
#include <tools/outsize/options.hpp>

namespace outsize::tool {

struct compression_options {
  std::optional<bool> decompress;           ///< --decompress, --no-decompress
  std::optional<io::compression> compress;  ///< --compress-output

  /// Whether inputs are looked at. Text is by default; binary records may begin with any bytes.
  bool decompresses(bool is_text) const noexcept { return decompress.value_or(is_text); }
  /// Sets what `options` of a command on files say.
  void apply_to(sort_options& options, std::string const& output_path, bool is_text = true) const {
    options.decompress = decompresses(is_text);
    options.compress = output(output_path);
  }

  /// Of an output of that name.
  io::compression output(std::string const& path) const noexcept {
    return compress.value_or(io::compression_of_name(path));
  }
};

/// --decompress and --no-decompress. `into` must outlive the table.
std::vector<option> decompression_rows(compression_options& into);
/// These, and --compress-output.
std::vector<option> compression_rows(compression_options& into);

}  // namespace outsize::tool
