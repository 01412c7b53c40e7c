// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The option parser of all commands: a table of rows, read by getopt_long, because the grammar of
// sort(1) is exactly getopt_long's (options after operands, bundled letters, abbreviated names).
// Layer: tools. The rows also make the help text, so what is documented is what is accepted.
// getopt keeps global state: parse on the main thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace outsize::tool {

/// An argument that cannot be used; the message is one line and names it.
class usage_error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

enum class argument : std::uint8_t { none, required, optional };

/// One row of the table.
struct option {
  char letter = 0;        ///< 0: has only a long name
  std::string name = {};  ///< empty: has only a letter
  argument takes = argument::none;
  std::string value = {};  ///< how the help calls the argument
  std::string help = {};   ///< empty: not shown (options that only say why they are refused)
  /// Called in the order of the command line; the text's data() is null if there is no argument.
  std::function<void(std::string_view)> handler = {};
};

/// The options of one command.
class option_table {
 public:
  /// `usage` follows the word "usage: "; `about` is a paragraph. `--help` and `--version` are there
  /// by themselves.
  option_table(std::string usage, std::string about);

  option_table& add(option row);
  option_table& add(std::vector<option> rows);
  /// Starts a new group of rows in the help.
  option_table& heading(std::string title);

  /// Shows operands in front of `--` to `takes`, between the handlers of options, in the order of
  /// the command line; what it returns true for is no operand.
  option_table& operands(std::function<bool(std::string_view)> takes);

  /// Calls the handler of every option and returns the operands in order, or nullopt after having
  /// printed the help or the version to stdout because that was asked for.
  ///
  /// Errors:  usage_error for unknown, ambiguous and incomplete options; what the handlers throw.
  std::optional<std::vector<std::string>> parse(int argc, char** argv) const;

  std::string help() const;

 private:
  std::string usage_;
  std::string about_;
  std::vector<option> rows_;  // a row without letter, name and handler is a heading
  std::function<bool(std::string_view)> takes_operand_;
};

/// Returns the only operand. Errors: usage_error if there is none (naming `what` is missing) or
/// another one.
std::string single_operand(std::vector<std::string> const& operands, std::string_view what);

/// Reads a count: decimal digits and optionally k, M, G or T for powers of 1000.
///
/// Errors:  usage_error naming `what` and the text.
std::uint64_t parse_count(std::string_view text, std::string_view what);

/// Reads a number as shuf(1) and uniq(1) do: blanks, a plus sign, decimal digits and no unit.
/// Returns nothing for another text, and for a number that does not fit.
std::optional<std::uint64_t> read_number(std::string_view text);

/// Reads such a number; one that does not fit is as much as there can be.
///
/// Errors:  usage_error naming `what` and the text.
std::uint64_t parse_capped_number(std::string_view text, std::string_view what);

}  // namespace outsize::tool
