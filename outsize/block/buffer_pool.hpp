// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Buffers of one size, cut from one piece of memory, lent and taken back.
//
// Invariant: free + lent = count. acquire() waits, so it belongs to the thread that drives the
// work, never to an executor's; every other function may be called from any thread. Layer: block.

#include <cstddef>
#include <exception>
#include <span>
#include <vector>

#include <outsize/base/detail/process_locks.hpp>
#include <outsize/base/detail/process_mark.hpp>
#include <outsize/base/memory_budget.hpp>

namespace outsize::block {

/// The memory of one lent buffer; the pool gets it back by pool.release().
using frame = std::span<std::byte>;

/// A fixed number of buffers of one size.
class buffer_pool {
 public:
  /// Takes count * buffer_bytes from `memory`. @throws budget_error.
  buffer_pool(grant& memory, std::size_t buffer_bytes, std::size_t count);
  buffer_pool(buffer_pool const&) = delete;
  buffer_pool& operator=(buffer_pool const&) = delete;
  /// @pre every buffer is back.
  ~buffer_pool();

  std::size_t buffer_bytes() const noexcept { return buffer_bytes_; }
  std::size_t count() const noexcept { return count_; }
  /// Buffers that are not lent now.
  std::size_t free_count() const;

  /// An unused buffer, or an empty frame if all are lent.
  frame try_acquire();
  /// Waits for an unused buffer.
  frame acquire();
  /// Takes a lent buffer back and wakes one who waits for it.
  void release(frame lent) noexcept;

 private:
  buffer memory_;
  std::size_t buffer_bytes_;
  std::size_t count_;
  outsize::detail::process_mark process_;
  mutable outsize::detail::process_mutex mutex_;  // guards free_
  outsize::detail::process_condition released_;
  std::vector<frame> free_;
};

}  // namespace outsize::block
