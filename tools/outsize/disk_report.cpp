// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The words and fields of a disk's report.
#include <tools/outsize/disk_report.hpp>

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace outsize::tool {
namespace {

std::string rate(double bytes_per_second) {
  return fmt::format("{}/s", format_bytes(static_cast<std::uint64_t>(bytes_per_second)));
}

std::string given_rate(std::uint64_t bytes_per_second) {
  return bytes_per_second == 0 ? "not given" : rate(static_cast<double>(bytes_per_second));
}

/// A number, or null where it stands for none.
nlohmann::ordered_json unless(std::uint64_t none, std::uint64_t number) {
  return number == none ? nlohmann::ordered_json() : nlohmann::ordered_json(number);
}

std::string block_sizes(disk_probe_options const& options) {
  auto const read = format_bytes(options.read_block_bytes);
  auto const write = format_bytes(options.write_block_bytes);
  return read == write ? read : fmt::format("{} (writes: {})", read, write);
}

bool is_direct(disk_speed const& speed) { return speed.alignment_bytes > 1; }

}  // namespace

disk_settings::disk_settings(disk_options disk, storage_options const& common)
    : disk_(std::move(disk)), depth_(disk_.depth.value_or(common.depth)) {
  auto const backend = disk_.backend.value_or(common.backend);
  backend_ = io::make_request_queue(backend, depth_)->name();
  storage_options alone = common;
  alone.disks = {disk_};
  alone.threads = 1;
  outsize::storage store(std::move(alone));
  alignment_bytes_ = store.alignment_bytes();
  free_bytes_ = store.free_bytes();
}

nlohmann::ordered_json disk_settings::report() const {
  return {{"directory", disk_.path},
          {"raw", disk_.raw},
          {"force", disk_.force},
          {"capacity_bytes", unless(UINT64_MAX, disk_.capacity_bytes)},
          {"free_bytes", unless(UINT64_MAX, free_bytes_)},
          {"backend", backend_},
          {"queue_depth", depth_},
          {"direct", alignment_bytes_ > 1},
          {"alignment_bytes", alignment_bytes_},
          {"given_read_bytes_per_second", unless(0, disk_.read_bytes_per_second)},
          {"given_write_bytes_per_second", unless(0, disk_.write_bytes_per_second)}};
}

std::string disk_settings::describe() const {
  auto const direct = alignment_bytes_ > 1
                          ? fmt::format("yes, aligned to {} bytes", alignment_bytes_)
                          : std::string("no, through the page cache");
  auto const raw = disk_.force ? "yes, a file or device that is written over, whatever it holds"
                               : "yes, a file or device that is written over";
  return report_line("raw", disk_.raw ? raw : "no, a directory") +
         report_line("capacity", disk_.capacity_bytes == UINT64_MAX
                                     ? "no limit of its own"
                                     : format_bytes(disk_.capacity_bytes)) +
         report_line("free", free_bytes_ == UINT64_MAX ? "not known" : format_bytes(free_bytes_)) +
         report_line("back-end", fmt::format("{}, {} requests under way", backend_, depth_)) +
         report_line("direct I/O", direct) +
         report_line("given speed",
                     fmt::format("reading {}, writing {}", given_rate(disk_.read_bytes_per_second),
                                 given_rate(disk_.write_bytes_per_second)));
}

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

}  // namespace outsize::tool
