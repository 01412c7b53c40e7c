// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The table rows, and their translation into the orders of the library.
#include <tools/outsize/key_options.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include <outsize/text/csv_field.hpp>
#include <tools/outsize/option_rows.hpp>
#include <tools/outsize/option_words.hpp>

namespace outsize::tool {
namespace {

constexpr std::array sort_words{
    option_word<char>{"general-numeric", 'g'}, option_word<char>{"human-numeric", 'h'},
    option_word<char>{"month", 'M'},           option_word<char>{"numeric", 'n'},
    option_word<char>{"random", 'R'},          option_word<char>{"version", 'V'}};

void note_line_option(key_options& options, std::string_view name) {
  if (options.line_option.empty()) options.line_option = name;
}

option letter_row(key_options& options, char letter, char const* name, char const* help) {
  return {.letter = letter, .name = name, .help = help, .handler = [&options, letter](auto) {
            text::set_option(options.order, letter);
            if (letter != 'r') note_line_option(options, std::string{'-', letter});
          }};
}

void set_sort_word(key_options& options, std::string_view word) {
  text::set_option(options.order, meaning_of(sort_words, "--sort", word));
  note_line_option(options, "--sort");
}

void set_separator(key_options& options, std::string_view text) {
  if (text.empty()) throw usage_error("-t '' is no separator");
  if (text != "\\0" && text.size() > 1) {
    throw usage_error(fmt::format("separator '{}' has more than one byte", text));
  }
  char const separator = text == "\\0" ? '\0' : text[0];
  if (options.separator.value_or(separator) != separator) {
    throw usage_error(fmt::format("separator '{}' differs from the one given before", text));
  }
  options.separator = separator;
  note_line_option(options, "-t");
}

option separator_row(key_options& options, char const* help) {
  return {.letter = 't',
          .name = "field-separator",
          .takes = argument::required,
          .value = "CHAR",
          .help = help,
          .handler = [&options](std::string_view text) { set_separator(options, text); }};
}

option zero_row(key_options& options) {
  return {.letter = 'z',
          .name = "zero-terminated",
          .help = "lines end with NUL, not newline",
          .handler = [&options](auto) {
            options.zero_terminated = true;
            note_line_option(options, "-z");
          }};
}

std::vector<text::line_key> parsed_keys(key_options const& options) {
  std::vector<text::line_key> parsed;
  for (auto const& key : options.keys) {
    parsed.push_back(text::parse_key(key));
    if (options.csv) parsed.back() = text::one_field_key(parsed.back());
  }
  return parsed;
}

}  // namespace

line_format key_options::lines() const {
  line_format made(delimiter());
  made.header = header;
  if (!csv) return made;
  made.csv = csv_format_of(separator, zero_terminated);
  return text::with_fields(made, {.keys = parsed_keys(*this), .csv = made.csv});
}

csv_format csv_format_of(std::optional<char> separator, bool zero_terminated) {
  if (zero_terminated) throw usage_error("options --csv and -z are incompatible");
  csv_format const made{.separator = separator.value_or(',')};
  constexpr std::string_view excluded = "\"\r\n";
  if (excluded.find(made.separator) != std::string_view::npos)
    throw usage_error("the separator of CSV is neither a quote nor the end of a line");
  return made;
}

text::line_order_options key_options::line_options() const {
  text::line_order_options line;
  line.separator = separator;
  line.csv = lines().csv;
  line.keys = parsed_keys(*this);
  line.global = order;
  line.stable = stable;
  line.unique = unique;
  auto const is_random = [](text::line_key const& key) { return key.order.random; };
  if (order.random || std::ranges::any_of(line.keys, is_random)) line.salt = chance.salt();
  return line;
}

item_order key_options::any_order() const {
  if (format) return records();
  return text::line_order(line_options());
}

record_order key_options::records() const {
  if (!line_option.empty()) {
    throw usage_error(fmt::format("option {} is for lines, not for records", line_option));
  }
  std::vector<record_key> parsed;
  for (auto const& key : keys) parsed.push_back(record_key::parse(key));
  return record_order(format.value(), std::move(parsed), order.reverse);
}

std::vector<option> line_key_rows(key_options& options) {
  auto const letter = [&](char l, char const* name, char const* help) {
    return letter_row(options, l, name, help);
  };
  std::vector<option> rows{
      letter('b', "ignore-leading-blanks", "leading blanks do not count"),
      letter('d', "dictionary-order", "only blanks, letters and digits count"),
      letter('f', "ignore-case", "lower case counts as upper case"),
      letter('g', "general-numeric-sort", "floating-point numbers"),
      letter('h', "human-numeric-sort", "numbers with units: 2K, 1G"),
      letter('i', "ignore-nonprinting", "only printable characters count"),
      letter('M', "month-sort", "unknown, JAN, ..., DEC"),
      letter('n', "numeric-sort", "decimal numbers"),
      letter('R', "random-sort", "in random order, equal keys together"),
      letter('r', "reverse", "the other way round"),
      letter('V', "version-sort", "numbers inside text, as in versions"),
      {.name = "sort",
       .takes = argument::required,
       .value = "WORD",
       .help = "an ordering by name: numeric, month, ...",
       .handler = [&](std::string_view word) { set_sort_word(options, word); }},
      {.letter = 'k',
       .name = "key",
       .takes = argument::required,
       .value = "KEY",
       .help = "F[.C][OPTS][,F[.C][OPTS]], as in 2,3n",
       .handler = [&](std::string_view text) { options.keys.emplace_back(text); }},
      separator_row(options, "ends a field, in place of blanks before the next"),
      zero_row(options),
  };
  for (option& row : random_rows(options.chance)) rows.push_back(std::move(row));
  return rows;
}

std::vector<option> equal_key_rows(key_options& options) {
  return {flag_row('s', "stable", "items with equal keys stay in input order", options.stable),
          flag_row('u', "unique", "no two items with equal keys", options.unique)};
}

std::vector<option> csv_rows(key_options& options) {
  auto const set_csv = [&options](auto) {
    options.csv = true;
    note_line_option(options, "--csv");
  };
  auto const set_tsv = [&options, set_csv](std::string_view text) {
    set_csv(text);
    set_separator(options, "\t");
  };
  auto const set_header = [&options](auto) {
    options.header = true;
    note_line_option(options, "--header");
  };
  return {{.name = "csv",
           .help = "records of CSV: fields may be quoted; a key is a field of each",
           .handler = set_csv},
          {.name = "tsv", .help = "the same with tabs", .handler = set_tsv},
          {.name = "header",
           .help = "the first line names the columns and stays first",
           .handler = set_header}};
}

std::vector<option> line_shape_rows(key_options& options) {
  std::vector<option> rows{zero_row(options)};
  for (option& row : csv_rows(options)) {
    if (row.name == "csv") row.help = "records of CSV: fields may be quoted";
    rows.push_back(std::move(row));
  }
  rows.push_back(separator_row(options, "the separator of CSV"));
  return rows;
}

line_format line_shape(key_options const& options) {
  if (options.separator && !options.csv) throw usage_error("option -t is for --csv");
  return options.lines();
}

std::vector<option> key_option_rows(key_options& options) {
  auto rows = line_key_rows(options);
  std::ranges::find(rows, 'k', &option::letter)->help =
      "lines: F[.C][OPTS][,F[.C][OPTS]]; records: OFFSET:LENGTH[:TYPE[:r]]";
  for (option& row : equal_key_rows(options)) rows.push_back(std::move(row));
  for (option& row : csv_rows(options)) rows.push_back(std::move(row));
  rows.push_back(
      {.name = "format",
       .takes = argument::required,
       .value = "TYPE",
       .help = "binary records: u32 u64 i32 i64 f32 f64 bytes:N",
       .handler = [&](std::string_view text) { options.format = record_format::parse(text); }});
  return rows;
}

}  // namespace outsize::tool
