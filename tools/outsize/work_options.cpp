// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/work_options.hpp>

#include <unistd.h>

#include <fmt/format.h>
#include <array>
#include <charconv>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/base/machine.hpp>
#include <outsize/base/printable_text.hpp>
#include <outsize/base/units.hpp>
#include <tools/outsize/command.hpp>
#include <tools/outsize/option_rows.hpp>
#include <tools/outsize/option_words.hpp>

namespace outsize::tool {
namespace {

/// A size in GNU sort's units: a bare number counts KiB, % is of this machine's memory.
std::uint64_t parse_memory(std::string_view text) {
  if (!text.ends_with('%')) return parse_bytes(text, 1_KiB);
  double percent = 0;
  auto const digits = text.substr(0, text.size() - 1);
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), percent);
  if (error != std::errc{} || end != digits.data() + digits.size() ||
      !(percent >= 0 && percent <= 100))
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

/// The library refuses a file too, but later, and without naming the option.
void add_directory(work_options& into, std::string_view path) {
  std::error_code ignored;
  std::filesystem::path const directory(path);
  if (std::filesystem::exists(directory, ignored) &&
      !std::filesystem::is_directory(directory, ignored))
    throw usage_error(fmt::format("-T {}: not a directory", path));
  into.directories.emplace_back(path);
}

constexpr std::array codec_words{option_word<run_codec>{"auto", run_codec::automatic},
                                 option_word<run_codec>{"none", run_codec::none},
                                 option_word<run_codec>{"always", run_codec::always}};

std::size_t parse_fan_in(std::string_view text) {
  std::uint64_t const fan_in = parse_count(text, "--batch-size");
  if (fan_in < 2) throw usage_error(fmt::format("--batch-size '{}' is less than 2", text));
  return fan_in;
}

}  // namespace

void tell_of_growth(std::string const& message) {
  put_error(fmt::format("outsize: warning: {}\n", printable(message)));
}

bool work_options::shows_progress() const {
  return progress.value_or(::isatty(STDERR_FILENO) != 0);
}

storage_options work_options::storage() const {
  storage_options options;
  for (std::string const& directory : directories) options.disks.emplace_back(directory);
  options.memory_bytes = memory_bytes.value_or(0);
  options.threads = threads.value_or(0);
  options.on_growth = tell_of_growth;
  options.checksums = checksums ? block_checksums::of_runs : block_checksums::none;
  return options;
}

sort_options work_options::sorting() const {
  return {.most_fan_in = most_fan_in, .codec = codec, .trace = trace.has_value()};
}

std::vector<option> resource_rows(work_options& into) {
  auto const set_memory = [&into](std::string_view text) {
    into.memory_bytes = parse_memory(text);
    into.memory_text = text;
  };
  return {{.letter = 'S',
           .name = "buffer-size",
           .takes = argument::required,
           .value = "SIZE",
           .help = "memory for all buffers: K (default), M, G, b or %",
           .handler = set_memory},
          {.name = "memory",
           .takes = argument::required,
           .value = "SIZE",
           .help = "the same",
           .handler = set_memory},
          {.letter = 'T',
           .name = "temporary-directory",
           .takes = argument::required,
           .value = "DIR",
           .help = "a disk for temporary blocks; repeat it for parallel disks",
           .handler = [&into](std::string_view text) { add_directory(into, text); }},
          {.name = "parallel",
           .takes = argument::required,
           .value = "N",
           .help = "threads",
           .handler = [&into](std::string_view text) { into.threads = parse_threads(text); }}};
}

std::vector<option> spill_rows(work_options& into) {
  return {{.name = "block-checksums",
           .help = "notice if a disk returns other bytes than were written to it (default)",
           .handler = [&into](auto) { into.checksums = true; }},
          {.name = "no-block-checksums",
           .help = "do not",
           .handler = [&into](auto) { into.checksums = false; }},
          {.name = "run-codec",
           .takes = argument::required,
           .value = "WHEN",
           .help = "keep temporary data in fewer bytes: auto (if it pays), none, always",
           .handler =
               [&into](std::string_view text) {
                 into.codec = meaning_of(codec_words, "--run-codec", text);
               }},
          {.name = "batch-size",
           .takes = argument::required,
           .value = "N",
           .help = "merge no more than N runs or inputs at once",
           .handler = [&into](std::string_view text) { into.most_fan_in = parse_fan_in(text); }}};
}

std::vector<option> report_rows(work_options& into) {
  return {{.name = "progress",
           .help = "show how far it has come (default on a terminal)",
           .handler = [&into](auto) { into.progress = true; }},
          {.name = "no-progress",
           .help = "do not",
           .handler = [&into](auto) { into.progress = false; }},
          json_row(into.json),
          text_row(0, "trace", "FILE", "note every step, for trace viewers", into.trace),
          text_row(0, "report", "FILE", "show the run on a page of HTML", into.report)};
}

void refuse_same_files(std::vector<std::string> inputs, work_options const& work,
                       std::vector<named_output> const& outputs) {
  inputs.insert(inputs.end(), work.also_read.begin(), work.also_read.end());
  refuse_same_files(inputs, outputs);
}

void refuse_disks(outsize::storage const& store,
                  std::initializer_list<std::optional<std::string>> outputs) {
  for (auto const& output : outputs)
    if (output) store.refuse_disk(*output);
}

int naming_memory(work_options const& work, std::function<int()> const& work_on) {
  try {
    return work_on();
  } catch (budget_error const& e) {
    if (work.memory_text.empty()) throw;
    throw std::runtime_error(fmt::format("-S {}: {}", work.memory_text, e.what()));
  }
}

}  // namespace outsize::tool
