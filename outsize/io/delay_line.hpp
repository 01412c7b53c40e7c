// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Holds attempts back until their time has come, then hands them to a function, in a thread of its
// own.
//
// The files made for tests and planning stand on it: memory_file completes on it, faulty_file
// delays and reorders with it, throttled_file and simulated_file pace with it. Attempts due at the
// same time leave in the order of arrival; nothing is held for longer than it was told. Every
// function may be called from any thread. Layer: io.

#include <chrono>
#include <functional>

#include <outsize/base/detail/process_mark.hpp>
#include <outsize/io/request.hpp>

namespace outsize::io {

/// Attempts that wait until they are due.
class delay_line {
 public:
  using clock = std::chrono::steady_clock;

  /// `release` is called in the line's thread with each attempt when it is due; it must not throw.
  explicit delay_line(std::function<void(attempt)> release);
  delay_line(delay_line const&) = delete;
  delay_line& operator=(delay_line const&) = delete;
  /// @pre nothing is held any more.
  ~delay_line();

  /// Starts the thread on first use; without one to be had, the attempt is released at once.
  void hold(attempt work, clock::time_point due) noexcept;

  /// Takes back the attempt of `owner` if it is still held; returns whether it was.
  bool withdraw(request const& owner) noexcept;

 private:
  class line;

  outsize::detail::process_ptr<line> line_;
};

}  // namespace outsize::io
