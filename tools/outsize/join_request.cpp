// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/join_request.hpp>

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tools/outsize/key_options.hpp>
#include <tools/outsize/option_rows.hpp>
#include <tools/outsize/options.hpp>

namespace outsize::tool {
namespace {

using text::join_column;
using text::join_options;

constexpr char const* about_join =
    "Writes a line for each pair of lines of FILE1 and FILE2 whose join fields are equal (as\n"
    "join(1) does in the C locale). Both must be sorted by that field, or be sorted here with\n"
    "--sort. One of them may be -, standard input.";

/// What was given so far, since what is given twice must be the same.
struct given_values {
  std::optional<std::size_t> first_field;
  std::optional<std::size_t> second_field;
  std::optional<char> separator;
  std::optional<std::string> filler;
  bool csv = false;
};

template <typename T>
void set_once(std::optional<T>& into, T value, std::string_view option) {
  if (into.value_or(value) != value)
    throw usage_error(fmt::format("{} is given twice, with different values", option));
  into = std::move(value);
}

/// A field number from 1, as one from 0.
std::size_t parse_field(std::string_view text) {
  std::size_t value = 0;
  auto const* const last = text.data() + text.size();
  auto const [end, status] = std::from_chars(text.data(), last, value);
  if (end != last || status == std::errc::invalid_argument || (value == 0 && status == std::errc{}))
    throw usage_error(fmt::format("'{}' is no field number", text));
  return status == std::errc{} ? value - 1 : std::numeric_limits<std::size_t>::max() - 1;
}

int parse_file(std::string_view text, std::string_view option) {
  if (text == "1") return 1;
  if (text == "2") return 2;
  throw usage_error(fmt::format("{} '{}' is neither 1 nor 2", option, text));
}

char parse_separator(std::string_view text) {
  if (text.empty()) return '\n';  // the whole line is one field
  if (text == "\\0") return '\0';
  if (text.size() > 1)
    throw usage_error(fmt::format("separator '{}' has more than one byte", text));
  return text[0];
}

void set_unpaired(join_options& join, std::string_view text, std::string_view option) {
  (parse_file(text, option) == 1 ? join.first_unpaired : join.second_unpaired) = true;
}

join_column parse_column(std::string_view text) {
  if (text == "0") return {};
  if (text.size() < 3 || text[1] != '.')
    throw usage_error(fmt::format("'{}' is no column: neither 0 nor FILE.FIELD", text));
  return {parse_file(text.substr(0, 1), "file of a column"), parse_field(text.substr(2))};
}

void add_columns(join_options& join, std::string_view text) {
  for (auto const& column : parse_columns(text)) join.columns.push_back(column);
}

bool are_columns(std::string_view text) {
  try {
    parse_columns(text);
    return true;
  } catch (usage_error const&) {
    return false;
  }
}

/// The two files. What looks like columns may be some, as in `-o 1.1 2.2 FILE1 FILE2`: that shows
/// when there would be more than two.
class operand_files {
 public:
  explicit operand_files(join_options& join) : join_(join) {}

  void add(std::string_view operand) {
    if (names_.size() == 2) make_room(operand);
    names_.emplace_back(operand);
  }
  std::vector<std::string> const& names() const noexcept { return names_; }

 private:
  void make_room(std::string_view operand) {
    auto const columns = std::ranges::find_if(names_, are_columns);
    if (join_.columns.empty() || columns == names_.end())
      throw usage_error(fmt::format("extra operand '{}'", operand));
    add_columns(join_, *columns);
    names_.erase(columns);
  }

  join_options& join_;
  std::vector<std::string> names_;
};

option action_row(std::string name, std::string help, std::function<void()> const& set) {
  return {.name = std::move(name), .help = std::move(help), .handler = [set](auto) { set(); }};
}

std::vector<option> field_rows(join_options& join, given_values& given) {
  auto const value_row = [](char letter, char const* value, char const* help,
                            std::function<void(std::string_view)> handler) {
    return option{.letter = letter,
                  .takes = argument::required,
                  .value = value,
                  .help = help,
                  .handler = std::move(handler)};
  };
  return {value_row('1', "FIELD", "the join field of FILE1 (default: the first)",
                    [&](auto text) { set_once(given.first_field, parse_field(text), "-1"); }),
          value_row('2', "FIELD", "the join field of FILE2",
                    [&](auto text) { set_once(given.second_field, parse_field(text), "-2"); }),
          value_row('j', "FIELD", "of both",
                    [&](auto text) {
                      set_once(given.first_field, parse_field(text), "-j");
                      set_once(given.second_field, parse_field(text), "-j");
                    }),
          value_row('t', "CHAR", "parts fields, in place of blanks; '': the line is one field",
                    [&](auto text) { set_once(given.separator, parse_separator(text), "-t"); }),
          flag_row(0, "csv", "records of CSV: fields may be quoted, -t is a comma", given.csv),
          action_row("tsv", "the same with tabs",
                     [&] {
                       given.csv = true;
                       set_once(given.separator, '\t', "-t");
                     }),
          flag_row('i', "ignore-case", "lower case counts as upper case", join.fold),
          {.letter = 'z',
           .name = "zero-terminated",
           .help = "lines end with NUL, not newline",
           .handler = [&](auto) { join.delimiter = '\0'; }}};
}

/// Of -o the letter stands for columns.
option path_row(std::string& into) {
  auto row = output_row(into, "write there, not to standard output; may be an input");
  row.letter = 0;
  return row;
}

std::vector<option> output_rows(join_request& request, given_values& given) {
  join_options& join = request.join;
  return {
      {.letter = 'a',
       .takes = argument::required,
       .value = "FILE",
       .help = "also lines of file 1 or 2 that have no partner",
       .handler = [&](std::string_view text) { set_unpaired(join, text, "-a"); }},
      {.letter = 'v',
       .takes = argument::required,
       .value = "FILE",
       .help = "only those",
       .handler =
           [&](std::string_view text) {
             set_unpaired(join, text, "-v");
             join.paired = false;
           }},
      {.letter = 'o',
       .takes = argument::required,
       .value = "COLUMNS",
       .help = "0 (the join field) or FILE.FIELD, more behind commas; or auto",
       .handler =
           [&](std::string_view text) {
             if (text == "auto") {
               join.columns_of_first_lines = true;
             } else {
               add_columns(join, text);
             }
           }},
      {.letter = 'e',
       .takes = argument::required,
       .value = "TEXT",
       .help = "in place of fields that are missing",
       .handler = [&](std::string_view text) { set_once(given.filler, std::string(text), "-e"); }},
      path_row(request.paths.output)};
}

std::vector<option> order_rows(join_options& join) {
  using check = join_options::order_check;
  return {flag_row(0, "sort", "the inputs need not be sorted", join.sort),
          flag_row(0, "header", "the first lines are joined whatever they are", join.header),
          action_row("check-order", "refuse all that is not sorted, not only what does harm",
                     [&] { join.check = check::always; }),
          action_row("nocheck-order", "refuse nothing", [&] { join.check = check::never; })};
}

}  // namespace

std::vector<join_column> parse_columns(std::string_view text) {
  std::vector<join_column> columns;
  for (;;) {
    std::size_t const end = text.find_first_of(", \t");
    columns.push_back(parse_column(text.substr(0, end)));
    if (end == std::string_view::npos) return columns;
    text.remove_prefix(end + 1);
  }
}

std::optional<join_request> read_join_request(int argc, char** argv) {
  join_request request;
  given_values given;
  operand_files files(request.join);
  option_table table("outsize join [OPTIONS] FILE1 FILE2", about_join);
  table.heading("what is compared")
      .add(field_rows(request.join, given))
      .heading("what to write")
      .add(output_rows(request, given))
      .heading("in which order the lines come")
      .add(order_rows(request.join))
      .heading("with what")
      .add(resource_rows(request))
      .add(spill_rows(request))
      .heading("compressed files")
      .add(compression_rows(request.codecs))
      .heading("what to tell")
      .add(report_rows(request))
      .operands([&](std::string_view operand) {
        files.add(operand);
        return true;
      });
  auto const rest = table.parse(argc, argv);
  if (!rest) return std::nullopt;
  for (auto const& operand : *rest) files.add(operand);
  if (files.names().size() < 2) throw usage_error("two files are needed");
  request.paths.first = files.names().front();
  request.paths.second = files.names().back();
  if (!request.join.columns.empty()) request.join.columns_of_first_lines = false;
  if (request.paths.first == "-" && request.paths.second == "-")
    throw usage_error("not both files can be standard input");
  request.join.first_field = given.first_field.value_or(0);
  request.join.second_field = given.second_field.value_or(0);
  request.join.separator = given.separator;
  if (given.csv) request.join.csv = csv_format_of(given.separator, request.join.delimiter == '\0');
  request.join.filler = given.filler.value_or("");
  return request;
}

}  // namespace outsize::tool
