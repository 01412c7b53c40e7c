// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Runs a command of this tool as a process of its own, so that its memory and its errors are its
// own and the caller can clean up after it even when both are interrupted. Layer: tools. One child
// at a time, main thread only: signal handlers belong to the process.
#pragma once

#include <array>
#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

#include <tools/outsize/interruption.hpp>

namespace outsize::tool {

/// One of the ending_signals arrived; a child that ran has been told and has ended.
class interrupted : public std::runtime_error {
 public:
  explicit interrupted(int signal_number)
      : std::runtime_error("interrupted"), signal_number_(signal_number) {}
  int exit_code() const noexcept { return 128 + signal_number_; }

 private:
  int signal_number_;
};

/// Runs commands one after the other. As long as it lives, signals that ask for an end do not end
/// this process: they are passed on to the child, and what the caller has made can be removed. One
/// at a time.
class child_commands {
 public:
  child_commands();
  child_commands(child_commands const&) = delete;
  child_commands& operator=(child_commands const&) = delete;
  /// Restores what was done about signals before.
  ~child_commands();

  /// Runs `outsize ARGUMENTS` with stdin and stdout at /dev/null and stderr as it is.
  /// Returns its exit code, 128 + signal if a signal ended it.
  ///
  /// Errors:  interrupted, also by a signal that came since it was made; std::system_error if no
  ///          process can be made.
  int run(std::vector<std::string> const& arguments);
  /// @throws interrupted if a signal has come.
  void check() const;

 private:
  std::array<struct sigaction, ending_signals.size()> previous_{};
};

}  // namespace outsize::tool
