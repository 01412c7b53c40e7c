// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Turns the table into getopt_long's arrays, and getopt_long's verdicts into one-line errors.
#include <tools/outsize/options.hpp>

#include <getopt.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include <outsize/base/config.hpp>

namespace outsize::tool {
namespace {

constexpr int first_row_code = 256;  // codes of rows lie above all letters
constexpr std::size_t help_column = 30;

bool is_heading(option const& row) { return row.letter == 0 && row.name.empty(); }

int getopt_arity(argument takes) {
  switch (takes) {
    case argument::none:
      return no_argument;
    case argument::required:
      return required_argument;
    case argument::optional:
      return optional_argument;
  }
  return no_argument;
}

constexpr int operand_code = 1;  // of getopt, for operands where they stand

/// The leading colon makes getopt tell a missing argument from an unknown option, a dash in front
/// of it makes operands come where they stand.
std::string short_grammar(std::vector<option> const& rows, bool shows_operands) {
  std::string grammar = shows_operands ? "-:" : ":";
  for (auto const& row : rows) {
    if (row.letter == 0) continue;
    grammar += row.letter;
    if (row.takes != argument::none) grammar += ':';
    if (row.takes == argument::optional) grammar += ':';
  }
  return grammar;
}

std::vector<::option> long_grammar(std::vector<option> const& rows) {
  std::vector<::option> grammar;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].name.empty()) continue;
    grammar.push_back({rows[i].name.c_str(), getopt_arity(rows[i].takes), nullptr,
                       first_row_code + static_cast<int>(i)});
  }
  grammar.push_back({nullptr, 0, nullptr, 0});
  return grammar;
}

option const* find_row(std::vector<option> const& rows, int code) {
  if (code >= first_row_code) return &rows[static_cast<std::size_t>(code - first_row_code)];
  auto const row = std::ranges::find(rows, code, [](option const& o) { return int{o.letter}; });
  return code == 0 || row == rows.end() ? nullptr : &*row;
}

/// The option as it was written: by its letter or by its name.
std::string shown(option const& row, int code) {
  return code < first_row_code ? fmt::format("-{}", row.letter) : fmt::format("--{}", row.name);
}

/// `word` is the argument that getopt stopped at, and getopt's `optopt` the code of its row or 0.
[[noreturn]] void refuse(std::vector<option> const& rows, std::string_view word, int code,
                         bool is_incomplete) {
  option const* row = find_row(rows, code);
  if (is_incomplete && row != nullptr) {
    throw usage_error(fmt::format("option {} needs {}", shown(*row, code), row->value));
  }
  if (code >= first_row_code) {
    throw usage_error(fmt::format("option {} takes no argument: '{}'", shown(*row, code), word));
  }
  if (code != 0) throw usage_error(fmt::format("unknown option -{}", static_cast<char>(code)));

  std::string_view name = word.substr(0, word.find('='));
  name.remove_prefix(std::min<std::size_t>(2, name.size()));
  bool const is_ambiguous = std::ranges::any_of(
      rows, [&](option const& candidate) { return candidate.name.starts_with(name); });
  throw usage_error(fmt::format("{} option {}", is_ambiguous ? "ambiguous" : "unknown", word));
}

std::string help_line(option const& row) {
  std::string left = row.letter != 0 ? fmt::format("  -{}", row.letter) : "    ";
  if (!row.name.empty()) left += fmt::format("{} --{}", row.letter != 0 ? "," : " ", row.name);
  std::string const equals = row.name.empty() ? " " : "=";
  if (row.takes == argument::required) left += equals + row.value;
  if (row.takes == argument::optional) left += fmt::format("[{}{}]", equals, row.value);
  if (left.size() + 2 > help_column) left += '\n' + std::string(help_column, ' ');
  return fmt::format("{:<{}}{}\n", left, help_column, row.help);
}

struct scanned_number {
  std::uint64_t value = 0;
  std::errc status = {};  // invalid_argument or result_out_of_range
};

scanned_number scan_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
  if (text.starts_with('+')) text.remove_prefix(1);
  scanned_number found;
  char const* const last = text.data() + text.size();
  auto const [end, status] = std::from_chars(text.data(), last, found.value);
  found.status = end == last ? status : std::errc::invalid_argument;
  return found;
}

}  // namespace

option_table::option_table(std::string usage, std::string about)
    : usage_(std::move(usage)), about_(std::move(about)) {}

option_table& option_table::add(option row) {
  rows_.push_back(std::move(row));
  return *this;
}

option_table& option_table::add(std::vector<option> rows) {
  for (auto& row : rows) rows_.push_back(std::move(row));
  return *this;
}

option_table& option_table::heading(std::string title) {
  rows_.push_back({.help = std::move(title)});
  return *this;
}

option_table& option_table::operands(std::function<bool(std::string_view)> takes) {
  takes_operand_ = std::move(takes);
  return *this;
}

std::optional<std::vector<std::string>> option_table::parse(int argc, char** argv) const {
  bool help_wanted = false;
  bool version_wanted = false;
  auto rows = rows_;
  rows.push_back({.name = "help", .handler = [&](std::string_view) { help_wanted = true; }});
  rows.push_back({.name = "version", .handler = [&](std::string_view) { version_wanted = true; }});
  auto const letters = short_grammar(rows, takes_operand_ != nullptr);
  auto const names = long_grammar(rows);
  std::vector<std::string> operands;

  optind = 0;  // a full restart, so that a process may parse more than once
  opterr = 0;
  // Where operands come as they stand, getopt would not end at the first by itself.
  bool const ends_at_operand = std::getenv("POSIXLY_CORRECT") != nullptr;
  while (operands.empty() || !ends_at_operand) {
    optopt = 0;
    int const code = getopt_long(argc, argv, letters.c_str(), names.data(), nullptr);
    if (code == -1) break;
    if (code == '?' || code == ':') refuse(rows, argv[optind - 1], optopt, code == ':');
    if (code == operand_code) {
      if (!takes_operand_(optarg)) operands.emplace_back(optarg);
      continue;
    }
    find_row(rows, code)
        ->handler(optarg == nullptr ? std::string_view() : std::string_view(optarg));
    if (help_wanted) fmt::print("{}", help());
    if (version_wanted) fmt::print("outsize {}\n", version);
    if (help_wanted || version_wanted) return std::nullopt;
  }
  operands.insert(operands.end(), argv + optind, argv + argc);
  return operands;
}

std::string option_table::help() const {
  std::string text = fmt::format("usage: {}\n\n{}\n\n", usage_, about_);
  for (auto const& row : rows_) {
    if (is_heading(row)) {
      text += fmt::format("\n{}:\n", row.help);
    } else if (!row.help.empty()) {
      text += help_line(row);
    }
  }
  return text + help_line({.name = "help", .help = "print this help"});
}

std::string single_operand(std::vector<std::string> const& operands, std::string_view what) {
  if (operands.empty()) throw usage_error(fmt::format("no {} given", what));
  if (operands.size() > 1) throw usage_error(fmt::format("extra operand '{}'", operands[1]));
  return operands[0];
}

std::uint64_t parse_count(std::string_view text, std::string_view what) {
  constexpr std::string_view units = "kMGT";
  std::uint64_t value = 0;
  char const* const last = text.data() + text.size();
  auto [end, status] = std::from_chars(text.data(), last, value);
  std::uint64_t factor = 1;
  if (status == std::errc{} && last - end == 1) {
    auto unit = units.find(*end);
    if (unit != std::string_view::npos) {
      ++end;
      for (++unit; unit > 0; --unit) factor *= 1000;
    }
  }
  if (status != std::errc{} || end != last ||
      value > std::numeric_limits<std::uint64_t>::max() / factor) {
    throw usage_error(fmt::format("{} '{}' is no count", what, text));
  }
  return value * factor;
}

std::optional<std::uint64_t> read_number(std::string_view text) {
  auto const found = scan_number(text);
  return found.status == std::errc{} ? std::optional(found.value) : std::nullopt;
}

std::uint64_t parse_capped_number(std::string_view text, std::string_view what) {
  auto const found = scan_number(text);
  if (found.status == std::errc::invalid_argument)
    throw usage_error(fmt::format("{} '{}' is no number", what, text));
  return found.status == std::errc{} ? found.value : std::numeric_limits<std::uint64_t>::max();
}

}  // namespace outsize::tool
