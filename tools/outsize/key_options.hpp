// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The options that say what an item is and how items compare, shared by `sort` and `check`: those
// of sort(1) for lines, --format and --key for binary records. Layer: tools. Plain values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <outsize/record/record_format.hpp>
#include <outsize/record/record_reader.hpp>
#include <outsize/text/line_order.hpp>
#include <tools/outsize/options.hpp>
#include <tools/outsize/random_options.hpp>

namespace outsize::tool {

/// How items are ordered, whatever they are.
using item_order = std::variant<text::line_order, record_order>;

/// What the command line says. Keys stay text until it is known whether they are of lines.
struct key_options {
  std::optional<record_format> format;  ///< --format; none: lines
  std::vector<std::string> keys;        ///< -k, --key
  text::ordering order;                 ///< the global letters
  std::optional<char> separator;        ///< -t
  bool stable = false;                  ///< -s
  bool unique = false;                  ///< -u
  bool zero_terminated = false;         ///< -z
  bool csv = false;                     ///< --csv, --tsv
  bool header = false;                  ///< --header
  random_options chance;                ///< of -R
  std::string line_option;              ///< the first option that has no meaning for records

  /// Returns the byte that ends a line.
  char delimiter() const noexcept { return zero_terminated ? '\0' : '\n'; }

  /// Returns what lines are; those of CSV have the fields of all keys. Errors: usage_error for
  /// options that no CSV can have, std::invalid_argument naming a malformed key.
  line_format lines() const;

  /// Errors:  std::invalid_argument naming a malformed key; if a key is random, those of
  ///          random_options::salt.
  text::line_order_options line_options() const;

  /// Returns the order of records; call it only if there is a format.
  ///
  /// Errors:  std::invalid_argument naming a malformed key, a key beyond the record, or an option
  ///          that only lines have.
  record_order records() const;

  /// Returns the order of records, if there is a format, or of lines. Errors: as of either.
  item_order any_order() const;
};

/// Returns the rows of what says how lines compare, without -s and -u: the letters, -k, -t and -z.
/// Their handlers fill `options`, which outlives them.
std::vector<option> line_key_rows(key_options& options);

/// Returns the rows of -s and -u.
std::vector<option> equal_key_rows(key_options& options);

/// Returns the rows of --csv, --tsv and --header.
std::vector<option> csv_rows(key_options& options);

/// Returns the same with -t, and with -z, for commands that compare no fields.
std::vector<option> line_shape_rows(key_options& options);
/// Returns what lines are by these. Errors: usage_error, also for -t without CSV; and as lines().
line_format line_shape(key_options const& options);

/// Returns how CSV is written. Errors: usage_error for what no CSV can have.
csv_format csv_format_of(std::optional<char> separator, bool zero_terminated);

/// Returns all of these rows, and --format.
std::vector<option> key_option_rows(key_options& options);

}  // namespace outsize::tool
