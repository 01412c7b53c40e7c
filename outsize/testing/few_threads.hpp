// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A process that may have few threads: for tests of what happens where the system starts no more,
// in a process of their own (EXPECT_EXIT). Layer: testing.

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

namespace outsize {

/// From now on this process has no more threads than `most`, or than it has already; it may allow
/// itself `later` again. It also loses the superuser's rights, as limits are not for him.
inline void allow_threads(::rlim_t most, ::rlim_t later) {
  constexpr ::uid_t nobody = 65534;
  ::rlimit const few{most, later};
  if (::getuid() == 0 && ::setuid(nobody) != 0) std::_Exit(1);
  if (::setrlimit(RLIMIT_NPROC, &few) != 0) std::_Exit(1);
}
inline void allow_threads(::rlim_t most) { allow_threads(most, most); }

}  // namespace outsize
