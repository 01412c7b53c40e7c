// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Memory that is not to be had when a test says so: that of operator new, in a program with
// scarce_memory.cpp, but for types that are aligned more than others. Each thread has its limit.

#include <cstdint>
#include <limits>
#include <new>

namespace outsize::crash {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// How many of this thread's allocations will succeed from now on.
void allow_allocations(std::uint64_t some) noexcept;

/// Does `action`, in which all allocations fail but the first `some`; whether it has been done.
template <typename Action>
bool done_with_allocations(std::uint64_t some, Action const& action) {
  allow_allocations(some);
  bool done = true;
  try {
    action();
  } catch (std::bad_alloc const&) {
    done = false;
  }
  allow_allocations(unlimited);
  return done;
}

}  // namespace outsize::crash
