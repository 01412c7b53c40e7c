// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Simulated disks for benchmarks. They rotate and have their bytes in memory; their time is the
// models' and does not depend on the machine.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <outsize/block/storage.hpp>
#include <outsize/io/decorators/simulated_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/io/simulation/rotating_disk.hpp>

namespace simulation {

/// Disks that a storage is made of, and their clocks. Outlives the storage.
class disks {
 public:
  explicit disks(std::size_t count) {
    for (std::size_t d = 0; d < count; ++d)
      all_.push_back(std::make_shared<outsize::io::simulated_disk>(
          std::make_unique<outsize::io::rotating_disk>()));
  }

  /// These disks, or that folder if there are none.
  std::vector<outsize::disk_options> or_folder(std::string const& directory) const {
    std::vector<outsize::disk_options> options;
    for (auto const& disk : all_) options.push_back(as_storage_disk(disk));
    if (options.empty()) options.emplace_back(directory);
    return options;
  }

  /// Returns the time of the disk that has worked longest; 0 if there are none.
  std::chrono::nanoseconds elapsed() const {
    std::chrono::nanoseconds most{0};
    for (auto const& disk : all_) most = std::max(most, disk->elapsed());
    return most;
  }

 private:
  using disk_ptr = std::shared_ptr<outsize::io::simulated_disk>;

  static outsize::disk_options as_storage_disk(disk_ptr const& disk) {
    return {"simulated", [disk](outsize::io::request_queue&) -> outsize::io::file_ptr {
              return std::make_unique<outsize::io::simulated_file>(
                  outsize::io::make_memory_file("simulated", disk->capacity_bytes()), disk);
            }};
  }

  std::vector<disk_ptr> all_;
};

}  // namespace simulation
