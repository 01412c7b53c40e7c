// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A file whose bytes are held in memory: for tests, for planning, and for data that happens to be
// small.
//
// It behaves as a file on a disk does: gaps read as zeros, a write past the capacity moves what
// fits and then fails with ENOSPC. Its memory is not counted in any budget. Thread rule as file's.
// Layer: io.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <outsize/io/file.hpp>

namespace outsize::io {

/// In which respects a memory file behaves as one on a disk.
struct memory_file_options {
  std::size_t alignment_bytes =
      1;                    ///< To be demanded of requests, as direct I/O does. A power of two.
  bool own_thread = false;  ///< Complete in a thread, as a disk does, rather than when issued.
};

/// Makes an empty one that can hold `capacity_bytes`.
file_ptr make_memory_file(std::string name,
                          std::uint64_t capacity_bytes = std::numeric_limits<std::uint64_t>::max(),
                          memory_file_options const& options = {});

}  // namespace outsize::io
