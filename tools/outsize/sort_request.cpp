// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/sort_request.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <string_view>

#include <tools/outsize/input_names.hpp>
#include <tools/outsize/option_rows.hpp>
#include <tools/outsize/option_words.hpp>
#include <tools/outsize/options.hpp>

namespace outsize::tool {
namespace {

constexpr char const* about_sort =
    "Sorts, merges or checks lines (as sort(1) does in the C locale, byte for byte) or binary\n"
    "records, however much larger than memory they are. Without FILE, or where FILE is -, reads\n"
    "standard input. Exit status: 0 done, 1 not in order (-c, -C), 2 error.";

using action = sort_request::action;

bool is_check(action what) { return what == action::check || what == action::check_silently; }

/// The last of -m, -c and -C does not win over the others: -c and -C exclude each other, -m yields.
void set_check(sort_request& request, action how) {
  if (is_check(request.what) && request.what != how)
    throw usage_error("options -c and -C are incompatible");
  request.what = how;
}

constexpr std::array check_words{option_word<action>{"diagnose-first", action::check},
                                 option_word<action>{"quiet", action::check_silently},
                                 option_word<action>{"silent", action::check_silently}};

/// What the command line says that is not part of the request.
struct read_state {
  std::optional<std::string> name_list;  // --files0-from
  std::optional<std::string> compressor;
};

std::vector<option> gnu_rows(read_state& state) {
  return {files0_row(state.name_list),
          {.name = "compress-program",
           .takes = argument::required,
           .value = "PROGRAM",
           .help = "accepted, and without effect",
           .handler = [&](std::string_view program) {
             if (state.compressor.value_or(std::string(program)) != program)
               throw usage_error("--compress-program is given twice, with different values");
             state.compressor = program;
           }}};
}

option refused(char letter, std::string const& name, argument takes) {
  auto const shown = name.empty() ? fmt::format("-{}", letter) : fmt::format("--{}", name);
  return {.letter = letter,
          .name = name,
          .takes = takes,
          .value = "ARGUMENT",
          .handler = [shown](auto) {
            throw usage_error(fmt::format("{} of GNU sort is not supported", shown));
          }};
}

[[noreturn]] void refuse_old_key(std::string_view word) {
  throw usage_error(
      fmt::format("'{}' looks like a key in the obsolete notation; use -k instead", word));
}

/// "-2" of the pair "+1 -2".
option refused_old_end(char digit) {
  return {.letter = digit, .handler = [digit](auto) { refuse_old_key(std::string{'-', digit}); }};
}

/// "+1" of the pair "+1 -2". A file of such a name can be given as "./+1".
void refuse_old_keys(std::vector<std::string> const& operands) {
  auto const is_old_key = [](std::string const& word) {
    return word.size() > 1 && word[0] == '+' && word[1] >= '0' && word[1] <= '9';
  };
  auto const word = std::ranges::find_if(operands, is_old_key);
  if (word != operands.end()) refuse_old_key(*word);
}

option_table make_table(sort_request& request, read_state& state) {
  option_table table("outsize sort [OPTIONS] [FILE...]", about_sort);
  table.heading("what the items are and how they compare")
      .add(key_option_rows(request.keys))
      .heading("what to do")
      .add({.letter = 'm',
            .name = "merge",
            .help = "the inputs are sorted: merge them",
            .handler =
                [&](auto) {
                  if (!is_check(request.what)) request.what = action::merge;
                }})
      .add({.letter = 'c',
            .help = "say whether the input is sorted, and where not",
            .handler = [&](auto) { set_check(request, action::check); }})
      .add({.name = "check",
            .takes = argument::optional,
            .value = "HOW",
            .help = "the same, or as -C if HOW is quiet",
            .handler =
                [&](std::string_view how) {
                  set_check(request, how.data() == nullptr
                                         ? action::check
                                         : meaning_of(check_words, "--check", how));
                }})
      .add({.letter = 'C',
            .help = "say it by the exit status alone",
            .handler = [&](auto) { set_check(request, action::check_silently); }})
      .add(output_row(request.output, request.has_output,
                      "write there, not to standard output (-); may be an input"))
      .add({.name = "plan",
            .help = "print what would be done, and do nothing",
            .handler = [&](auto) { request.plan = true; }})
      .heading("compressed files")
      .add(compression_rows(request.codecs))
      .heading("with what")
      .add(resource_rows(request))
      .add(spill_rows(request))
      .heading("what to tell")
      .add(report_rows(request))
      .heading("as GNU sort")
      .add(gnu_rows(state))
      .add({refused(0, "debug", argument::none), refused('y', "", argument::optional)});
  for (char digit = '0'; digit <= '9'; ++digit) table.add(refused_old_end(digit));
  return table;
}

void require_sensible(sort_request const& request) {
  if (request.plan && (request.json || request.trace || request.report))
    throw usage_error("--plan does nothing that --json, --trace or --report could tell");
  if (!is_check(request.what)) return;
  if (request.inputs.size() > 1)
    throw usage_error(fmt::format("extra operand '{}' not allowed with -c", request.inputs[1]));
  if (request.has_output) throw usage_error("options -c and -o are incompatible");
  if (request.plan) throw usage_error("options -c and --plan are incompatible");
  if (request.json) throw usage_error("options -c and --json are incompatible");
  if (request.trace) throw usage_error("options -c and --trace are incompatible");
  if (request.report) throw usage_error("options -c and --report are incompatible");
}

}  // namespace

std::optional<sort_request> read_sort_request(int argc, char** argv) {
  sort_request request;
  read_state state;
  auto operands = make_table(request, state).parse(argc, argv);
  if (!operands) return std::nullopt;
  refuse_old_keys(*operands);
  request.inputs = all_inputs(std::move(*operands), state.name_list);
  request.note_read(state.name_list);
  request.note_read(request.keys.chance.source);
  require_sensible(request);
  return request;
}

}  // namespace outsize::tool
