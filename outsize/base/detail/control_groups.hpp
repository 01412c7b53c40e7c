// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What the control groups of Linux allow a process: its own group and all those around it, the
// least of each limit, in version 2 of their file system or version 1. Functions of what is in the
// files, from any thread. Layer: base.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>

#include <outsize/base/detail/process_limits.hpp>

namespace outsize::detail {

struct control_group_limits {
  std::uint64_t memory_bytes = std::numeric_limits<std::uint64_t>::max();  ///< That: no limit.
  std::size_t threads = std::numeric_limits<std::size_t>::max();  ///< Quota of processors, up.
  task_limit tasks = {};  ///< The least that a group leaves.
};

/// Reads the limits. What cannot be read limits nothing.
///
/// @param groups  Where the file system of the groups is mounted.
/// @param membership  A file as /proc/self/cgroup: which groups a process is in.
control_group_limits read_control_group_limits(
    std::filesystem::path const& groups = "/sys/fs/cgroup",
    std::filesystem::path const& membership = "/proc/self/cgroup");

}  // namespace outsize::detail
