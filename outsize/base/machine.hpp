// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What the machine, the affinity mask and the control groups leave to this process, and what it has
// used of it. Layer: base.

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace outsize {

/// The number of threads this process may use at once (affinity mask and cgroup quota), at least 1.
std::size_t available_threads();

/// The bytes of memory this process may use: the machine's or its cgroup's limit, the smaller.
std::uint64_t available_memory_bytes();

/// What the calling thread has had of a processor since it began.
std::chrono::nanoseconds thread_processor_time() noexcept;

/// The same of all threads of the process together.
std::chrono::nanoseconds process_processor_time() noexcept;

}  // namespace outsize
