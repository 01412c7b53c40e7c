// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What the machine, the affinity mask and the control groups leave to this process, and what it has
// used of it. Any thread may ask. Layer: base.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace outsize {

/// The number of threads this process may use at once, at least 1: by its affinity mask and the
/// quotas of its cgroup and those around it.
std::size_t available_threads();

/// The bytes of memory this process may use: what the machine has, or the least limit of its cgroup
/// and those around it, and what it has not used yet of its own limits (RLIMIT_AS, RLIMIT_DATA).
std::uint64_t available_memory_bytes();

/// The processes and threads that this process may start now.
struct startable_tasks {
  std::uint64_t count = ~std::uint64_t{0};  ///< The greatest: no limit known.
  std::string limit = {};                   ///< Its name and numbers, for messages.
};

/// Returns the least of the limits that apply: of the user (RLIMIT_NPROC) and of the control groups
/// (pids.max). Others may start some meanwhile.
startable_tasks available_tasks();

/// Whether the process may map only so much memory (RLIMIT_AS), used or not.
bool has_bounded_address_space() noexcept;

/// How the memory of a process is divided where nobody says it:
///
///   | budget: buffers, tables of containers | codecs | threads: 1 MiB each | 8 MiB: all else |
///
/// A thread of a team has a stack, and tables to sort keys in cache (idle_tools.hpp). All else is
/// code, the heap's small things, threads for I/O, and what the kernel counts to the process:
/// rings, page tables, stacks.
struct memory_division {
  std::uint64_t budget_bytes = 0;  ///< Of a memory_budget.
  std::uint64_t codec_bytes = 0;   ///< For libraries of compression.
  std::size_t threads = 1;         ///< Of the team that computes.
};

/// Divides `available_bytes`. The budget gets half of it, or less where what is beside it needs
/// more; the team gets `threads`, or less where their share would be more than the budget's. Of
/// memory that is very little 2 MiB or a fourth are the budget, and of the rest there may be too
/// little for data that are hard to sort.
/// @param codec_bytes  What libraries of compression are known to need.
/// @throws budget_error if less than 6 MiB is left beside `codec_bytes`.
memory_division divide_memory(std::uint64_t available_bytes, std::size_t threads,
                              std::uint64_t codec_bytes);

/// The most threads of a team that works with a budget, so that what they keep beside it is a
/// fourth of it: one for each 4 MiB, but 16 in any case.
std::size_t most_threads_for(std::uint64_t budget_bytes) noexcept;

/// The longest a file may get that this process writes; the greatest number if there is no limit.
std::uint64_t file_size_limit_bytes() noexcept;

/// What the calling thread has had of a processor since it began.
std::chrono::nanoseconds thread_processor_time() noexcept;

/// The same of all threads of the process together.
std::chrono::nanoseconds process_processor_time() noexcept;

}  // namespace outsize
