// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// `outsize uniq`: equal neighbouring lines, as uniq(1) treats them. Layer: tools. The work is
// text::uniq_lines.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <outsize/text/line_uniq.hpp>
#include <tools/outsize/command.hpp>
#include <tools/outsize/compression_options.hpp>
#include <tools/outsize/key_options.hpp>
#include <tools/outsize/option_rows.hpp>
#include <tools/outsize/option_words.hpp>
#include <tools/outsize/options.hpp>
#include <tools/outsize/sort_command.hpp>
#include <tools/outsize/work_options.hpp>

namespace outsize::tool {
namespace {

using text::uniq_options;
using mark = uniq_options::mark;

constexpr char const* about_uniq =
    "Of equal lines that follow each other writes one (as uniq(1) does in the C locale). Without\n"
    "INPUT, or where it is -, reads standard input. For equal lines anywhere there are\n"
    "'outsize sort -u' and 'outsize count'.";

struct uniq_request : work_options {
  uniq_options groups;
  key_options shape;  // what lines are
  std::string input = "-";
  std::string output = "-";
  bool has_output = false;
  compression_options codecs;
  bool fields_by_digits = false;  // the last -f was one in the old notation: -12
};

constexpr std::array repeated_words{option_word<mark>{"none", mark::none},
                                    option_word<mark>{"prepend", mark::prepend},
                                    option_word<mark>{"separate", mark::separate}};
constexpr std::array group_words{
    option_word<mark>{"prepend", mark::prepend}, option_word<mark>{"append", mark::append},
    option_word<mark>{"separate", mark::separate}, option_word<mark>{"both", mark::both}};

option number(char letter, char const* name, char const* help, std::uint64_t& into) {
  return {.letter = letter,
          .name = name,
          .takes = argument::required,
          .value = "N",
          .help = help,
          .handler = [&into, letter](std::string_view text) {
            into = parse_capped_number(text, std::string{'-', letter});
          }};
}

std::vector<option> group_rows(uniq_request& request) {
  uniq_options& groups = request.groups;
  return {
      flag_row('c', "count", "the number of equal lines in front", groups.count),
      flag_row('d', "repeated", "only lines that are repeated, one of each", groups.only_repeated),
      {.letter = 'D',
       .help = "all lines that are repeated",
       .handler =
           [&groups](auto) {
             groups.all_repeated = true;
             groups.marks = mark::none;
           }},
      {.name = "all-repeated",
       .takes = argument::optional,
       .value = "HOW",
       .help = "the same, with empty lines: none, prepend or separate",
       .handler =
           [&groups](std::string_view word) {
             groups.all_repeated = true;
             groups.marks = word.data() == nullptr
                                ? mark::none
                                : meaning_of(repeated_words, "--all-repeated", word);
           }},
      {.name = "group",
       .takes = argument::optional,
       .value = "HOW",
       .help = "all lines, with empty ones: separate, prepend, append or both",
       .handler =
           [&groups](std::string_view word) {
             groups.all_lines = true;
             groups.marks =
                 word.data() == nullptr ? mark::separate : meaning_of(group_words, "--group", word);
           }},
      flag_row('u', "unique", "only lines that are not repeated", groups.only_single)};
}

/// A digit of -12, the old notation of -f 12: getopt takes each for an option, and those behind
/// each other, or in several words, are one number.
option digit(char letter, uniq_request& request) {
  return {.letter = letter, .handler = [&request, letter](auto) {
            std::uint64_t& fields = request.groups.skip_fields;
            if (!request.fields_by_digits) fields = 0;
            request.fields_by_digits = true;
            auto const unit = static_cast<std::uint64_t>(letter - '0');
            bool const fits = fields <= (uniq_options::to_end_of_line - unit) / 10;
            fields = fits ? fields * 10 + unit : uniq_options::to_end_of_line;
          }};
}

/// Takes +12, the old notation of -s 12. What is no number, or too large, is the name of a file.
bool take_old_skip(std::string_view word, std::uint64_t& bytes) {
  if (!word.starts_with('+')) return false;
  std::uint64_t value = 0;
  auto const* const last = word.data() + word.size();
  auto const [end, status] = std::from_chars(word.data() + 1, last, value);
  if (end != last || status != std::errc{}) return false;
  bytes = value;
  return true;
}

std::vector<option> comparison_rows(uniq_request& request) {
  uniq_options& groups = request.groups;
  return {{.letter = 'f',
           .name = "skip-fields",
           .takes = argument::required,
           .value = "N",
           .help = "the first N fields do not count",
           .handler =
               [&request](std::string_view text) {
                 request.groups.skip_fields = parse_capped_number(text, "-f");
                 request.fields_by_digits = false;
               }},
          number('s', "skip-chars", "nor the N bytes behind them", groups.skip_bytes),
          number('w', "check-chars", "of the rest only N bytes do", groups.most_bytes),
          flag_row('i', "ignore-case", "lower case counts as upper case", groups.fold)};
}

option_table make_table(uniq_request& request) {
  option_table table("outsize uniq [OPTIONS] [INPUT [OUTPUT]]", about_uniq);
  table.heading("what to write")
      .add(group_rows(request))
      .add(output_row(request.output, request.has_output, "as OUTPUT; may be the input"))
      .heading("what makes lines equal")
      .add(comparison_rows(request))
      .heading("what lines are")
      .add(line_shape_rows(request.shape))
      .heading("with what")
      .add(resource_rows(request))
      .heading("compressed files")
      .add(compression_rows(request.codecs))
      .heading("what to tell")
      .add(report_rows(request))
      .operands([&](auto word) { return take_old_skip(word, request.groups.skip_bytes); });
  for (char letter = '0'; letter <= '9'; ++letter) table.add(digit(letter, request));
  return table;
}

void require_sensible(uniq_options const& groups) {
  bool const selects = groups.only_repeated || groups.all_repeated || groups.only_single;
  if (groups.all_lines && (selects || groups.count))
    throw usage_error("--group goes with none of -c, -d, -D and -u");
  if (groups.all_repeated && groups.count) throw usage_error("options -c and -D are incompatible");
}

}  // namespace

int cmd_uniq(int argc, char** argv) {
  uniq_request request;
  auto const operands = make_table(request).parse(argc, argv);
  if (!operands) return exit_done;
  if (operands->size() > 2) throw usage_error(fmt::format("extra operand '{}'", (*operands)[2]));
  if (!operands->empty()) request.input = operands->front();
  if (operands->size() == 2) {
    if (request.has_output) throw usage_error("more than one output: OUTPUT and -o");
    request.output = operands->back();
  }
  require_sensible(request.groups);
  request.groups.lines = line_shape(request.shape);
  return run_sort_command(
      "uniq", request, {{request.input}, request.output, request.codecs},
      [&](outsize::storage& store, sort_options how) {
        request.codecs.apply_to(how, {request.input}, request.output, contents_of(request.shape));
        return text::uniq_lines(store, request.input, request.output, request.groups, how);
      });
}

}  // namespace outsize::tool
