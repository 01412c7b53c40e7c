// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A disk for people and as JSON, as `bench disk` and `info` show it: what its user has said of it,
// and its measured speed. Layer: tools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <outsize/block/disk_options.hpp>
#include <outsize/block/storage.hpp>
#include <tools/outsize/disk_probe.hpp>

namespace outsize::tool {

/// What a disk is set to, with the defaults of `common` where it says nothing, and what can be seen
/// of it without writing to it.
class disk_settings {
 public:
  /// @throws what a storage does that cannot use the disk.
  explicit disk_settings(disk_options disk, storage_options const& common = {});

  disk_options const& disk() const noexcept { return disk_; }

  /// Of the report: path, capacity (null: no limit of its own), back-end and so on.
  nlohmann::ordered_json report() const;
  /// Lines of "  name   value", each ended by a newline.
  std::string describe() const;

 private:
  disk_options disk_;
  std::size_t depth_;
  std::string backend_;
  std::uint64_t free_bytes_;
  std::size_t alignment_bytes_;  // 1: through the page cache
};

/// The fields of the speed in bytes per second, and the conditions of the measurement.
nlohmann::ordered_json disk_report(disk_probe_options const& options, disk_speed const& speed);

/// Lines of "  name   value", each ended by a newline.
std::string describe_disk(disk_probe_options const& options, disk_speed const& speed);

/// One such line.
std::string report_line(std::string_view name, std::string_view value);

}  // namespace outsize::tool
