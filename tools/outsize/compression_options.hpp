// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The options that say which inputs are decompressed or come in another encoding, and how the
// output is compressed; and what is refused because its name says otherwise. Layer: tools. Plain
// values, and the rows of the option table that fill them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/algorithm/sort_options.hpp>
#include <outsize/io/compression.hpp>
#include <outsize/io/input_form.hpp>
#include <tools/outsize/key_options.hpp>
#include <tools/outsize/options.hpp>

namespace outsize::tool {

/// What is in the inputs of a command, as far as it matters how they come.
enum class contents : std::uint8_t { lines, csv, records };

/// What these options say about the inputs.
contents contents_of(key_options const& keys) noexcept;

/// The kind that the name of an output promises.
///
/// Errors:  usage_error naming the output if it promises one that cannot be written, and `way_out`.
io::compression compression_promised_by(std::string const& path,
                                        std::string_view way_out = "take another name");

struct compression_options {
  std::optional<bool> decompress;           ///< --decompress, --no-decompress
  bool transcode = true;                    ///< --encoding
  std::optional<io::compression> compress;  ///< --compress-output

  /// What is recognised in inputs. In text all is by default; binary records may begin with any
  /// bytes.
  io::input_decoding decoding(contents what) const noexcept {
    bool const is_text = what != contents::records;
    return {decompress.value_or(is_text), transcode && is_text};
  }
  /// Of an output of that name. Errors: as compression_promised_by, unless an option says it.
  io::compression output(std::string const& path) const {
    return compress
               ? *compress
               : compression_promised_by(path, "take another name, or say --compress-output=none");
  }

  /// What the libraries need for these files, as far as it can be known before they are read, if
  /// `inputs_at_once` of the inputs are open at the same time. Errors: as output().
  std::uint64_t memory_bytes(std::vector<std::string> const& inputs, std::string const& output_path,
                             contents what, std::size_t inputs_at_once) const;

  /// Sets what `options` of a command on files say, and looks at its inputs: lines whose name says
  /// that they are compressed, and that are not, are worth a warning on stderr.
  ///
  /// Errors:  as output(); usage_error or format_error naming an input whose name and bytes
  ///          contradict each other, if it is none of plain lines, or which is to be taken as it
  ///          is though nobody said so; foreign_input; io_error.
  void apply_to(sort_options& options, std::vector<std::string> const& inputs,
                std::string const& output_path, contents what) const;
  /// Looks at one input. Errors: likewise.
  void look_at(std::string const& input, contents what) const;
};

/// --decompress, --no-decompress and --encoding. `into` must outlive the table.
std::vector<option> decompression_rows(compression_options& into);
/// These, and --compress-output.
std::vector<option> compression_rows(compression_options& into);

}  // namespace outsize::tool
