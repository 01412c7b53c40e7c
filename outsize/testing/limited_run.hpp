// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A program run in a process of its own with a storage of little memory, its blocks in files.
// Layer: testing.

#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include <outsize/base/error.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/testing/forked.hpp>

namespace outsize::scratch {

enum class limited_outcome : int { right, too_little_memory, wrong };

/// Calls `is_right(store)` with two threads and so much memory, in a new process.
template <typename Program>
limited_outcome run_limited(std::uint64_t memory_bytes, std::string const& directory,
                            Program const& is_right) {
  auto const run = [&] {
    try {
      storage_options options{.memory_bytes = memory_bytes, .threads = 2};
      options.disks.emplace_back(directory);
      storage store(options);
      return is_right(store) ? limited_outcome::right : limited_outcome::wrong;
    } catch (budget_error const&) {
      return limited_outcome::too_little_memory;
    } catch (std::exception const& e) {
      std::cerr << e.what() << '\n';
      return limited_outcome::wrong;
    }
  };
  return static_cast<limited_outcome>(status_of_fork([&] { std::_Exit(static_cast<int>(run())); }));
}

/// The most that any process had that has ended.
inline std::uint64_t peak_resident_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace outsize::scratch
