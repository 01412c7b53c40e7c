// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// `outsize info`: what this build and this machine offer, and how fast the disks are. Layer: tools.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <outsize/base/config.hpp>
#include <outsize/base/machine.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/disk_file.hpp>
#include <tools/outsize/command.hpp>
#include <tools/outsize/disk_probe.hpp>
#include <tools/outsize/disk_report.hpp>
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
                     "Shows version, threads, memory, and of each disk the directory, free space, "
                     "back-end and\nmeasured bandwidth.");
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
      .add({.name = "json",
            .takes = argument::required,
            .value = "FILE",
            .help = "also write the report here, as one JSON object",
            .handler = [&](std::string_view text) { request.json = text; }});
  return table;
}

/// What a disk is, without measuring it.
nlohmann::ordered_json describe_storage(std::string const& directory, std::string& lines) {
  auto const queue = io::make_request_queue();
  auto const file = io::make_temporary_file(directory, *queue);
  auto const free_bytes = io::free_space_bytes(directory);
  bool const is_direct = file->alignment_bytes() > 1;
  lines += report_line("free", format_bytes(free_bytes));
  lines += report_line("back-end", queue->name());
  lines += report_line("direct I/O",
                       is_direct ? fmt::format("yes, aligned to {} bytes", file->alignment_bytes())
                                 : std::string("no, through the page cache"));
  return {{"directory", directory},
          {"free_bytes", free_bytes},
          {"backend", queue->name()},
          {"direct", is_direct},
          {"alignment_bytes", file->alignment_bytes()}};
}

nlohmann::ordered_json show_disk(std::string const& directory, bool is_quick) {
  std::string lines = fmt::format("disk {}\n", directory);
  auto object = describe_storage(directory, lines);
  fmt::print("{}", lines);
  if (is_quick) return object;
  disk_probe_options const options{.directory = directory, .file_bytes = 256_MiB};
  auto const speed = probe_disk(options);
  fmt::print("{}", describe_disk(options, speed));
  object.update(disk_report(options, speed));
  return object;
}

nlohmann::ordered_json show_machine() {
  auto const threads = available_threads();
  auto const memory_bytes = available_memory_bytes();
  fmt::print(
      "outsize {}\n{}{}{}", version, report_line("threads", fmt::format("{}", threads)),
      report_line("memory", fmt::format("{} ({} used by default)", format_bytes(memory_bytes),
                                        format_bytes(memory_bytes / 2))),
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
  if (request.directories.empty())
    for (disk_options const& disk : default_disks()) request.directories.push_back(disk.path);
  // A directory that is not there should be all that is said.
  for (auto const& directory : request.directories) io::free_space_bytes(directory);

  auto object = show_machine();
  object["disks"] = nlohmann::ordered_json::array();
  for (auto const& directory : request.directories) {
    object["disks"].push_back(show_disk(directory, request.is_quick));
  }
  if (request.json) write_json_file(*request.json, object);
  return exit_done;
}

}  // namespace outsize::tool
