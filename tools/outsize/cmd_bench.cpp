// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// `outsize bench disk` and `outsize bench sort`: quick measurements without other programs.
// Layer: tools.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <outsize/base/printable_text.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <tools/outsize/child_command.hpp>
#include <tools/outsize/command.hpp>
#include <tools/outsize/disk_probe.hpp>
#include <tools/outsize/disk_report.hpp>
#include <tools/outsize/json_file.hpp>
#include <tools/outsize/option_rows.hpp>
#include <tools/outsize/option_words.hpp>
#include <tools/outsize/options.hpp>
#include <tools/outsize/sort_trial.hpp>

namespace outsize::tool {
namespace {

constexpr char const* usage = "outsize bench disk|sort [OPTIONS]";

option count_row(std::string name, std::string help, auto& target) {
  return {.name = name,
          .takes = argument::required,
          .value = "N",
          .help = std::move(help),
          .handler = [&target, name](std::string_view text) {
            target =
                static_cast<std::remove_reference_t<decltype(target)>>(parse_count(text, name));
          }};
}

constexpr std::array backend_words{option_word<io::backend>{"automatic", io::backend::automatic},
                                   option_word<io::backend>{"uring", io::backend::uring},
                                   option_word<io::backend>{"threads", io::backend::threads},
                                   option_word<io::backend>{"mmap", io::backend::mmap}};

void refuse_operands(std::vector<std::string> const& operands) {
  if (!operands.empty()) throw usage_error(fmt::format("extra operand '{}'", operands.front()));
}

int bench_disk(int argc, char** argv) {
  disk_probe_options options{.directory = default_temporary_directory()};
  std::optional<std::string> json;
  option_table table(
      "outsize bench disk [OPTIONS]",
      "Measures what the disk can do: reading, writing, and both at once, in two unnamed "
      "files\nthat are gone at the end.");
  table
      .add(
          text_row('T', "temporary-directory", "DIR", "a directory on the disk", options.directory))
      .add(size_row("size", "of each of the two files (1G)", options.file_bytes))
      .add({.name = "block",
            .takes = argument::required,
            .value = "SIZE",
            .help = "of each request (2M)",
            .handler =
                [&](std::string_view text) {
                  options.read_block_bytes = options.write_block_bytes = parse_bytes(text);
                }})
      .add(size_row("read-block", "of each request to read", options.read_block_bytes))
      .add(size_row("write-block", "of each request to write", options.write_block_bytes))
      .add(count_row("depth", "requests under way in each direction (4)", options.depth))
      .add({.name = "backend",
            .takes = argument::required,
            .value = "NAME",
            .help = "automatic, uring, threads or mmap",
            .handler =
                [&](std::string_view text) {
                  options.backend = meaning_of(backend_words, "--backend", text);
                }})
      .add(json_row(json));
  auto const operands = table.parse(argc, argv);
  if (!operands) return exit_done;
  refuse_operands(*operands);

  auto const report = open_json(json);
  auto const speed = probe_disk(options);
  fmt::print("{}\n{}", printable(options.directory), describe_disk(options, speed));
  if (report) report->write(disk_report(options, speed));
  return exit_done;
}

/// The share of what the disk can do: two passes, each reading and writing every byte at once.
double share_of_floor(disk_speed const& speed, double input_bytes, double seconds) {
  return 2 * input_bytes / speed.mixed_bytes_per_second / seconds;
}

void print_trial(sort_trial_options const& options, nlohmann::json const& sort, double share) {
  auto const number = [&](char const* field) { return sort.at(field).get<double>(); };
  auto const size = [&](char const* field) {
    return format_bytes(sort.at(field).get<std::uint64_t>());
  };
  fmt::print("sorting {} of {} with {} of memory\n", size("input_bytes"), options.kind,
             format_bytes(options.memory_bytes));
  double const seconds = number("seconds");
  fmt::print("{}", report_line("time", fmt::format("{:.2f} s, {}/s", seconds,
                                                   format_bytes(static_cast<std::uint64_t>(
                                                       number("input_bytes") / seconds)))));
  fmt::print("{}", report_line("runs, passes", fmt::format("{}, {}", sort.at("runs").dump(),
                                                           sort.at("passes").dump())));
  fmt::print("{}", report_line("moved", fmt::format("{} read, {} written", size("read_bytes"),
                                                    size("written_bytes"))));
  fmt::print("{}", report_line("peak memory", size("peak_rss_bytes")));
  fmt::print("{}", report_line("of the disk",
                               fmt::format("{:.0f} % of two passes at full speed", 100 * share)));
}

int bench_sort(int argc, char** argv) {
  sort_trial_options options{.directory = default_temporary_directory()};
  std::optional<std::string> json;
  option_table table("outsize bench sort [OPTIONS]",
                     "Generates data, sorts it, checks the result and says how fast it was. Needs "
                     "three times\nthe size on the disk; nothing stays behind.");
  table.add(text_row(0, "kind", "KIND", "u64 (default), records or lines", options.kind))
      .add(size_row("size", "of the data, about (1G)", options.size_bytes))
      .add(size_row("memory", "of the sort (256M)", options.memory_bytes))
      .add(count_row("parallel", "threads of the sort", options.threads))
      .add(text_row('T', "temporary-directory", "DIR", "where all files go", options.directory))
      .add(json_row(json));
  auto const operands = table.parse(argc, argv);
  if (!operands) return exit_done;
  refuse_operands(*operands);

  auto const file = open_json(json);
  disk_probe_options const probe{
      .directory = options.directory,
      .file_bytes = std::min<std::uint64_t>(options.size_bytes, 256_MiB)};
  auto const speed = probe_disk(probe);
  auto const report = run_sort_trial(options);
  double const share =
      share_of_floor(speed, report.sort.at("input_bytes"), report.sort.at("seconds"));
  print_trial(options, report.sort, share);
  fmt::print("{}", report_line("checked", report.is_verified ? "in order and complete" : "WRONG"));
  if (file) {
    file->write({{"kind", options.kind},
                 {"verified", report.is_verified},
                 {"share_of_floor", share},
                 {"sort", report.sort},
                 {"disk", disk_report(probe, speed)}});
  }
  return report.is_verified ? exit_done : exit_no;
}

}  // namespace

int cmd_bench(int argc, char** argv) {
  std::string_view const what = argc > 1 ? argv[1] : "";
  if (what == "disk") return bench_disk(argc - 1, argv + 1);
  if (what == "sort") {
    try {
      return bench_sort(argc - 1, argv + 1);
    } catch (interrupted const& signal) {
      put_error("outsize bench: interrupted; its files are gone\n");
      return signal.exit_code();
    }
  }
  option_table const table(usage,
                           "Measures the disk, or a sort. 'outsize bench disk --help' and "
                           "'outsize bench sort --help' say more.");
  if (!table.parse(argc, argv)) return exit_done;
  throw usage_error(what.empty() ? "disk or sort?"
                                 : fmt::format("'{}' is none of disk, sort", what));
}

}  // namespace outsize::tool
