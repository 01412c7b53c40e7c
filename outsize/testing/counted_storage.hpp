// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A storage of little memory and three threads on one disk in memory, whose requests are counted.
// They end when they are issued: a thread that ends them makes each as slow as a disk does.
// Layer: testing.

#include <cstdint>
#include <memory>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/decorators/counting_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::scratch {

struct counted_storage {
  std::shared_ptr<io::io_tally> tally = std::make_shared<io::io_tally>();
  storage store;

  explicit counted_storage(std::uint64_t memory_bytes = 1_MiB)
      : store({.disks = {disk_options("counted",
                                      [this](io::request_queue&) -> io::file_ptr {
                                        return std::make_unique<io::counting_file>(
                                            io::make_memory_file("counted", 1_GiB), tally);
                                      })},
               .memory_bytes = memory_bytes,
               .threads = 3}) {}

  std::uint64_t reads() const { return tally->reads().requests; }
  std::uint64_t writes() const { return tally->writes().requests; }
};

}  // namespace outsize::scratch
