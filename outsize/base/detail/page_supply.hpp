// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Pages for memory that is going to be written, asked of the system ahead of their first use.
//
// The first write to each page stops its thread until the system has cleared one; on virtual
// machines, whose host does the same once more, that has taken 1.6 s for 512 MiB. A thread of its
// own does it while others wait for disks:
//
//   parts:   | claimed | claimed | being supplied | untouched | untouched |
//
// Invariant: a part is touched by this object's thread or by those that claimed it, never by both.
// Layer: base.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

namespace outsize::detail {

/// Supplies parts of memory, full of zeros, with pages, one part after the other. The memory must
/// outlive this object, whose end ends the work.
class page_supply {
 public:
  /// Begins at once. @throws std::system_error if there is no further thread.
  explicit page_supply(std::vector<std::span<std::byte>> parts);

  /// Returns when the caller may use part number `index`, which has its pages then or will not be
  /// given any here. Any number of times, from any thread.
  void claim(std::size_t index) noexcept;

 private:
  enum class state : std::uint8_t { untouched, being_supplied, claimed };

  void supply(std::stop_token const& stop) noexcept;

  std::vector<std::span<std::byte>> parts_;
  std::vector<std::atomic<state>> states_;
  std::jthread thread_;
};

}  // namespace outsize::detail
