// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/sort_request.hpp>

#include <charconv>
#include <fmt/format.h>
#include <string_view>

#include <outsize/base/machine.hpp>
#include <outsize/base/units.hpp>
#include <tools/outsize/options.hpp>

namespace outsize::tool {
namespace {

constexpr char const* about =
    "Sorts, merges or checks lines (as sort(1) does in the C locale, byte for byte) or binary\n"
    "records, however much larger than memory they are. Without FILE, or where FILE is -, reads\n"
    "standard input. Exit status: 0 done, 1 not in order (-c, -C), 2 error.";

/// A size in GNU sort's units: a bare number counts KiB, % is of this machine's memory.
std::uint64_t parse_memory(std::string_view text) {
  if (!text.ends_with('%')) return parse_bytes(text, 1_KiB);
  double percent = 0;
  auto const digits = text.substr(0, text.size() - 1);
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), percent);
  if (error != std::errc{} || end != digits.data() + digits.size() || percent < 0 || percent > 100)
    throw usage_error(fmt::format("invalid size '{}'", text));
  return static_cast<std::uint64_t>(percent / 100 * static_cast<double>(available_memory_bytes()));
}

std::size_t parse_threads(std::string_view text) {
  std::uint64_t const threads = parse_count(text, "number of threads");
  constexpr std::uint64_t most = 1024;
  if (threads == 0 || threads > most)
    throw usage_error(fmt::format("number of threads '{}' is not between 1 and {}", text, most));
  return threads;
}

void set_check(sort_request& request, std::string_view word) {
  if (word.empty() || word == "diagnose-first") {
    request.what = sort_request::action::check;
  } else if (word == "quiet" || word == "silent") {
    request.what = sort_request::action::check_silently;
  } else {
    throw usage_error(fmt::format("invalid argument '{}' for --check", word));
  }
}

option refused(char letter, char const* name, argument takes) {
  return {.letter = letter, .name = name, .takes = takes, .value = "ARGUMENT", .handler = [name](auto) {
            throw usage_error(fmt::format("--{} of GNU sort is not supported", name));
          }};
}

option_table make_table(sort_request& request) {
  option_table table("outsize sort [OPTIONS] [FILE...]", about);
  table.heading("what the items are and how they compare")
      .add(key_option_rows(request.keys))
      .heading("what to do")
      .add({.letter = 'm',
            .name = "merge",
            .help = "the inputs are sorted: merge them",
            .handler = [&](auto) { request.what = sort_request::action::merge; }})
      .add({.letter = 'c',
            .help = "say whether the input is sorted, and where not",
            .handler = [&](auto) { set_check(request, ""); }})
      .add({.name = "check",
            .takes = argument::optional,
            .value = "HOW",
            .help = "the same, or as -C if HOW is quiet",
            .handler = [&](std::string_view how) { set_check(request, how); }})
      .add({.letter = 'C',
            .help = "say it by the exit status alone",
            .handler = [&](auto) { set_check(request, "quiet"); }})
      .add({.letter = 'o',
            .name = "output",
            .takes = argument::required,
            .value = "FILE",
            .help = "write there, not to standard output; may be an input",
            .handler = [&](std::string_view text) { request.output = text; }})
      .add({.name = "plan",
            .help = "print what would be done, and do nothing",
            .handler = [&](auto) { request.plan = true; }})
      .heading("with what")
      .add({.letter = 'S',
            .name = "buffer-size",
            .takes = argument::required,
            .value = "SIZE",
            .help = "memory for all buffers: K (default), M, G, b or %",
            .handler =
                [&](std::string_view text) {
                  request.memory_bytes = parse_memory(text);
                  request.memory_text = text;
                }})
      .add({.name = "memory",
            .takes = argument::required,
            .value = "SIZE",
            .help = "the same",
            .handler =
                [&](std::string_view text) {
                  request.memory_bytes = parse_memory(text);
                  request.memory_text = text;
                }})
      .add({.letter = 'T',
            .name = "temporary-directory",
            .takes = argument::required,
            .value = "DIR",
            .help = "a disk for temporary blocks; repeat it for parallel disks",
            .handler = [&](std::string_view text) { request.directories.emplace_back(text); }})
      .add({.name = "parallel",
            .takes = argument::required,
            .value = "N",
            .help = "threads",
            .handler = [&](std::string_view text) { request.threads = parse_threads(text); }})
      .heading("what to tell")
      .add({.name = "progress",
            .help = "show how far it has come (default on a terminal)",
            .handler = [&](auto) { request.progress = true; }})
      .add({.name = "no-progress",
            .help = "do not",
            .handler = [&](auto) { request.progress = false; }})
      .add({.name = "json",
            .takes = argument::required,
            .value = "FILE",
            .help = "write a report as one JSON object",
            .handler = [&](std::string_view text) { request.json = text; }})
      .add({refused(0, "batch-size", argument::required),
            refused(0, "compress-program", argument::required), refused(0, "debug", argument::none),
            refused(0, "files0-from", argument::required)});
  return table;
}

void require_sensible(sort_request const& request) {
  bool const checks = request.what == sort_request::action::check ||
                      request.what == sort_request::action::check_silently;
  if (checks && request.inputs.size() > 1)
    throw usage_error(fmt::format("extra operand '{}' not allowed with -c", request.inputs[1]));
  if (checks && request.output != "-") throw usage_error("options -c and -o are incompatible");
}

}  // namespace

std::optional<sort_request> read_sort_request(int argc, char** argv) {
  sort_request request;
  auto operands = make_table(request).parse(argc, argv);
  if (!operands) return std::nullopt;
  request.inputs = std::move(*operands);
  if (request.inputs.empty()) request.inputs.emplace_back("-");
  require_sensible(request);
  return request;
}

}  // namespace outsize::tool
