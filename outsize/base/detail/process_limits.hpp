// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The limit of the processes and threads of a user (RLIMIT_NPROC), as the kernel applies it.
// Functions of what is in the files, from any thread. Layer: base.

#include <cstdint>
#include <filesystem>
#include <limits>

namespace outsize::detail {

/// Processes and threads: the most that there may be, and those that there are.
struct task_limit {
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();  ///< That: no limit.
  std::uint64_t used = 0;

  std::uint64_t left() const noexcept { return most - (used < most ? used : most); }
};

/// Applies a limit to the user of this process. Returns no limit for a process that the kernel
/// exempts: of user 0, or with CAP_SYS_RESOURCE or CAP_SYS_ADMIN, outside of user namespaces.
/// Counts the threads of the real user that can be seen, and in its own user namespace only: so it
/// may count fewer than the kernel, not more.
///
/// @param most  RLIMIT_NPROC. @param proc  Where the file system of processes is mounted.
task_limit read_user_task_limit(std::uint64_t most, std::filesystem::path const& proc = "/proc");

}  // namespace outsize::detail
