// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The memory that a run of processes takes, exactly: memory files by their blocks, all else by the
// proportional set size and the page tables of each process. The sum of resident set sizes would
// count shared pages once for each process. Functions of what the kernel shows, from any thread.
// Layer: bsp.

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace outsize::bsp::process {

/// Bytes at one moment.
struct memory_use {
  std::uint64_t shared_bytes = 0;      ///< Memory files, and other memory that processes share.
  std::uint64_t process_bytes = 0;     ///< Private pages, and shares of files of programs.
  std::uint64_t page_table_bytes = 0;  ///< Of all processes.

  std::uint64_t total_bytes() const noexcept {
    return shared_bytes + process_bytes + page_table_bytes;
  }
};

/// A process and all that it and its children have started.
std::vector<pid_t> processes_below(pid_t first, std::filesystem::path const& proc = "/proc");

/// Adds up the memory of some processes; those that have ended count nothing.
/// CPU: the kernel looks at each page that a process has mapped.
/// @param memory_file_bytes  Allocated in the run's memory files, mapped or not.
memory_use measure_memory(std::vector<pid_t> const& processes, std::uint64_t memory_file_bytes,
                          std::filesystem::path const& proc = "/proc");

}  // namespace outsize::bsp::process
