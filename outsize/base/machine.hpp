// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What the machine, the affinity mask and the control groups leave to this process, and what it has
// used of it. Any thread may ask. Layer: base.

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace outsize {

/// The number of threads this process may use at once, at least 1: by its affinity mask and the
/// quotas of its cgroup and those around it.
std::size_t available_threads();

/// The bytes of memory this process may use: what the machine has, or the least limit of its cgroup
/// and those around it, and of the process itself (RLIMIT_AS, RLIMIT_DATA).
std::uint64_t available_memory_bytes();

/// The longest a file may get that this process writes; the greatest number if there is no limit.
std::uint64_t file_size_limit_bytes() noexcept;

/// What the calling thread has had of a processor since it began.
std::chrono::nanoseconds thread_processor_time() noexcept;

/// The same of all threads of the process together.
std::chrono::nanoseconds process_processor_time() noexcept;

}  // namespace outsize
