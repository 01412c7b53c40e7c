// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The words and fields of a disk's report.
#include <tools/outsize/disk_report.hpp>

#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include <tools/outsize/output_file.hpp>

namespace outsize::tool {
namespace {

std::string rate(double bytes_per_second) {
  return fmt::format("{}/s", format_bytes(static_cast<std::uint64_t>(bytes_per_second)));
}

std::string block_sizes(disk_probe_options const& options) {
  auto const read = format_bytes(options.read_block_bytes);
  auto const write = format_bytes(options.write_block_bytes);
  return read == write ? read : fmt::format("{} (writes: {})", read, write);
}

bool is_direct(disk_speed const& speed) { return speed.alignment_bytes > 1; }

}  // namespace

nlohmann::ordered_json disk_report(disk_probe_options const& options, disk_speed const& speed) {
  return {{"directory", options.directory},
          {"read_bytes_per_second", speed.read_bytes_per_second},
          {"write_bytes_per_second", speed.write_bytes_per_second},
          {"mixed_bytes_per_second", speed.mixed_bytes_per_second},
          {"first_write_bytes_per_second", speed.first_write_bytes_per_second},
          {"size_bytes", speed.file_bytes},
          {"read_block_bytes", options.read_block_bytes},
          {"write_block_bytes", options.write_block_bytes},
          {"depth", options.depth},
          {"backend", speed.backend},
          {"direct", is_direct(speed)},
          {"alignment_bytes", speed.alignment_bytes}};
}

std::string describe_disk(disk_probe_options const& options, disk_speed const& speed) {
  return report_line("reading", rate(speed.read_bytes_per_second)) +
         report_line("writing",
                     fmt::format("{} ({} the first time)", rate(speed.write_bytes_per_second),
                                 rate(speed.first_write_bytes_per_second))) +
         report_line("both at once", fmt::format("{} each", rate(speed.mixed_bytes_per_second))) +
         report_line("measured with",
                     fmt::format("{}, {} I/O, {} requests of {}, files of {}", speed.backend,
                                 is_direct(speed) ? "direct" : "buffered", options.depth,
                                 block_sizes(options), format_bytes(speed.file_bytes)));
}

std::string report_line(std::string_view name, std::string_view value) {
  return fmt::format("  {:<15}{}\n", name, value);
}

void write_json_file(std::string const& path, nlohmann::ordered_json const& object) {
  output_file output(path);
  output.write(object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n');
  output.close();
}

}  // namespace outsize::tool
