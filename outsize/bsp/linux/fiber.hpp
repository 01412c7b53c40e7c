// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A function with a stack of its own that can stop and go on later: one virtual processor's thread
// of control.
//
//   worker:  resume() ─▶ body … suspend() ─▶ worker … resume() ─▶ body … end ─▶ worker
//
// Switching keeps the exceptions being handled apart (compilers keep them in thread-locals), and
// tells AddressSanitizer and ThreadSanitizer. Invariant: at most one thread is in a fiber, always
// the same one. Layer: bsp.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace outsize::bsp::detail {

class fiber {
 public:
  /// @param stack_bytes  Reserved, rounded up to pages; memory is there as far as it is used. An
  ///                     access beyond stops the program.
  /// @throws std::bad_alloc.
  fiber(std::size_t stack_bytes, std::function<void()> body);
  fiber(fiber const&) = delete;
  fiber& operator=(fiber const&) = delete;
  /// If it has not ended, the objects on its stack are not destroyed.
  ~fiber();

  /// Runs the body until it suspends or ends. @pre it has not ended. The body throws nothing.
  void resume();
  /// Within the body: goes back to the caller of resume().
  void suspend();
  bool has_ended() const noexcept;

  /// Gives memory of the stack that is not in use back to the system. @pre it is suspended.
  /// @return the bytes in use.
  std::size_t trim_stack() noexcept;

 private:
  class machinery;
  std::unique_ptr<machinery> inside_;
};

}  // namespace outsize::bsp::detail
