// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Runs a command of this tool as a process of its own, so that its memory and its errors are its
// own and the caller can clean up after it even when both are interrupted. Layer: tools. One child
// at a time, main thread only: signal handlers belong to the process.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace outsize::tool {

/// SIGINT, SIGTERM or SIGHUP arrived while a child ran; the child has been told and has ended.
class interrupted : public std::runtime_error {
 public:
  explicit interrupted(int signal_number)
      : std::runtime_error("interrupted"), signal_number_(signal_number) {}
  int exit_code() const noexcept { return 128 + signal_number_; }

 private:
  int signal_number_;
};

/// Runs `outsize ARGUMENTS` with stdin and stdout at /dev/null and stderr as it is.
/// Returns its exit code, 128 + signal if a signal ended it.
///
/// Errors:  interrupted; std::system_error if no process can be made.
int run_child_command(std::vector<std::string> const& arguments);

}  // namespace outsize::tool
