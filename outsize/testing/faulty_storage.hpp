// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A storage of little memory and one thread on a disk in memory whose accesses fail, or are late,
// as a plan says, and what a user does about it. Layer: testing.

#include <chrono>
#include <cstdint>
#include <memory>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/decorators/fault_plan.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::scratch {

/// Accesses that are interrupted, short, or held up, but succeed in the end: nobody may notice.
inline io::fault_odds late(std::uint64_t seed) {
  return {.seed = seed,
          .interrupt = 0.1,
          .shorten = 0.2,
          .hold = 0.01,
          .max_delay = std::chrono::microseconds(20)};
}
/// Some of which fail besides.
inline io::fault_odds failing_or_late(std::uint64_t seed) {
  return {.seed = seed,
          .fail = 0.03,
          .interrupt = 0.05,
          .shorten = 0.1,
          .hold = 0.02,
          .max_delay = std::chrono::microseconds(20)};
}
/// So seldom that work of some hundred accesses, which has to be begun anew, ends at some time.
inline io::fault_odds seldom_failing(std::uint64_t seed) {
  io::fault_odds odds = failing_or_late(seed);
  odds.fail = 0.002;
  return odds;
}

struct faulty_storage {
  std::shared_ptr<io::fault_plan> plan;
  storage store;

  explicit faulty_storage(io::fault_odds const& odds, std::uint64_t capacity_bytes = 16_MiB,
                          std::uint64_t memory_bytes = 1_MiB)
      : plan(std::make_shared<io::fault_plan>(odds)),
        store({.disks = {disk_options("faulty",
                                      [this, capacity_bytes](io::request_queue&) -> io::file_ptr {
                                        return std::make_unique<io::faulty_file>(
                                            io::make_memory_file("faulty", capacity_bytes), plan);
                                      })},
               .memory_bytes = memory_bytes,
               .threads = 1}) {}
};

/// Again until it has been done: an access that throws has done nothing.
template <typename Action>
auto persist(std::uint64_t& failures, Action const& action) {
  for (;;) try {
      return action();
    } catch (io_error const&) {
      ++failures;
    }
}

}  // namespace outsize::scratch
