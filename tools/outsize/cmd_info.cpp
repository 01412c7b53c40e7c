// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// `outsize info`: what this build and this machine offer, and how fast the disks are. Layer: tools.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <outsize/base/config.hpp>
#include <outsize/base/machine.hpp>
#include <outsize/base/printable_text.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/disk_options.hpp>
#include <outsize/io/disk_file.hpp>
#include <tools/outsize/command.hpp>
#include <tools/outsize/disk_probe.hpp>
#include <tools/outsize/disk_report.hpp>
#include <tools/outsize/json_file.hpp>
#include <tools/outsize/option_rows.hpp>
#include <tools/outsize/options.hpp>

namespace outsize::tool {
namespace {

struct info_request {
  std::vector<std::string> directories;
  std::optional<std::string> json;
  bool is_quick = false;
};

option_table info_options(info_request& request) {
  option_table table("outsize info [OPTIONS]",
                     "Shows version, threads and memory, and of each disk that sorts use, as "
                     "OUTSIZE_DISKS describes\nit, the settings in force, free space, measured "
                     "bandwidth, and the line of a list that gives it.");
  table
      .add({.letter = 'T',
            .name = "temporary-directory",
            .takes = argument::required,
            .value = "DIR",
            .help = "a disk to look at; repeatable (where temporary files go)",
            .handler = [&](std::string_view text) { request.directories.emplace_back(text); }})
      .add({.name = "quick",
            .help = "measure no bandwidth",
            .handler = [&](std::string_view) { request.is_quick = true; }})
      .add(json_row(request.json));
  return table;
}

/// The disk as fast as it has been measured to be, writing what runs and containers do: anew.
disk_options with_speed(disk_options disk, disk_speed const& speed) {
  disk.read_bytes_per_second = static_cast<std::uint64_t>(speed.read_bytes_per_second);
  disk.write_bytes_per_second = static_cast<std::uint64_t>(speed.first_write_bytes_per_second);
  return disk;
}

/// How the disk is measured: as it will be used, within its capacity. Nothing if it has too little
/// room for a measurement that says anything.
std::optional<disk_probe_options> probe_of(disk_options const& disk) {
  constexpr std::uint64_t files = 2, most_bytes = 256_MiB, least_bytes = 16_MiB;
  disk_probe_options options{.directory = disk.path};
  auto const room = std::min(disk.capacity_bytes, io::free_space_bytes(disk.path));
  options.file_bytes =
      std::min(most_bytes, round_down<std::uint64_t>(room / files, options.write_block_bytes));
  if (options.file_bytes < least_bytes) return std::nullopt;
  options.backend = disk.backend.value_or(options.backend);
  options.direct = disk.direct.value_or(options.direct);
  options.depth = std::min<std::size_t>(disk.depth.value_or(options.depth), 64);
  return options;
}

nlohmann::ordered_json show_disk(disk_settings const& settings, bool is_quick) {
  disk_options const& disk = settings.disk();
  fmt::print("disk {}\n{}", printable(disk.path), settings.describe());
  auto object = settings.report();
  if (is_quick) return object;
  if (disk.raw) {
    fmt::print("{}", report_line("speed", "not measured, as that would write over it"));
    return object;
  }
  auto const options = probe_of(disk);
  if (!options) {
    fmt::print("{}", report_line("speed", "not measured, as there is too little room"));
    return object;
  }
  auto const speed = probe_disk(*options);
  fmt::print("{}", describe_disk(*options, speed));
  object.update(disk_report(*options, speed));
  if (auto const line = describe_in_list(with_speed(disk, speed))) {
    fmt::print("{}", report_line("in a list", printable(*line)));
    object["line"] = *line;
  }
  return object;
}

nlohmann::ordered_json show_machine() {
  auto const threads = available_threads();
  auto const memory_bytes = available_memory_bytes();
  auto const used = divide_memory(memory_bytes, threads, 0).budget_bytes;
  fmt::print("outsize {}\n{}{}{}", version, report_line("threads", fmt::format("{}", threads)),
             report_line("memory", fmt::format("{} ({} used by default)",
                                               format_bytes(memory_bytes), format_bytes(used))),
             report_line("io_uring", has_uring ? "built in" : "not built in"));
  return {{"version", version},
          {"threads", threads},
          {"memory_bytes", memory_bytes},
          {"has_uring", has_uring}};
}

}  // namespace

int cmd_info(int argc, char** argv) {
  info_request request;
  auto const operands = info_options(request).parse(argc, argv);
  if (!operands) return exit_done;
  if (!operands->empty()) throw usage_error(fmt::format("extra operand '{}'", operands->front()));
  // A disk that cannot be used should be all that is said.
  std::vector<disk_options> const disks =
      request.directories.empty()
          ? default_disks()
          : std::vector<disk_options>(request.directories.begin(), request.directories.end());
  weights_of(disks);
  std::vector<disk_settings> settings(disks.begin(), disks.end());

  auto const report = open_json(request.json);
  auto object = show_machine();
  object["disks"] = nlohmann::ordered_json::array();
  for (disk_settings const& disk : settings)
    object["disks"].push_back(show_disk(disk, request.is_quick));
  if (report) report->write(object);
  return exit_done;
}

}  // namespace outsize::tool
