// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A thread that does one errand at a time while its owner goes on.
//
//   owner:   start(errand) ──── other work ──── wait()
//   thread:        ╰─────── errand ───────╯
//
// It is in no team of threads: its calls of executor::parallel_for are shared out as those of other
// threads. It is made by the first errand.
//
// Invariant: no errand is under way when start() is called, nor after wait(). One thread owns it.
// In a process that comes from a fork a copy has no thread: it refuses errands. Layer: base.

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include <outsize/base/detail/process_mark.hpp>

namespace outsize::detail {

class side_thread {
 public:
  side_thread() = default;
  side_thread(side_thread const&) = delete;
  side_thread& operator=(side_thread const&) = delete;
  /// Waits for the errand.
  ~side_thread();

  /// @throws std::system_error if there can be no more threads, io_error (EOWNERDEAD) in another
  /// process; the errand is not begun then.
  void start(std::function<void()> errand);
  /// Waits for the errand, if there is one; from a body of a team without its place there. @throws
  /// the errand's exception, or io_error (EOWNERDEAD) in another process.
  void wait();

 private:
  static constexpr char const* name = "thread beside its owner";

  void work();

  process_mark process_;
  std::mutex mutex_;  // guards the following members but thread_
  std::condition_variable changed_;
  std::function<void()> errand_;  // none: nothing to be done
  std::exception_ptr failure_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace outsize::detail
