// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Ctrl-C and SIGTERM end a command at once, cleanly.
//
// Temporary files have no names and outputs get theirs only when complete, so ending the process is
// the clean-up; what has a hidden name is removed first, as it is before any other signal ends it.
// A thread of its own waits for the signals that ask for an end, since little may be done in a
// handler. An output that has got its name by then is told of. Signals that were ignored when the
// process began stay ignored. Make an interruption before any other thread, on the main thread.
// Layer: tools.

#include <signal.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>

namespace outsize::tool {

/// The signals that ask for an end.
inline constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};

/// Whether such a signal does nothing, as SIGHUP under nohup(1).
bool is_ignored(int signal);

/// From now on no signal that ends the process by default leaves a hidden output behind.
void clean_up_on_signals();

class interruption {
 public:
  /// From now on those signals print "outsize COMMAND: interrupted …" and end the
  /// process with 128 + the signal's number.
  explicit interruption(std::string command);
  interruption(interruption const&) = delete;
  interruption& operator=(interruption const&) = delete;
  /// Restores what was before.
  ~interruption();

 private:
  void wait_for_signal();

  std::string command_;
  sigset_t caught_{};
  sigset_t before_{};
  std::atomic<bool> over_{false};
  std::thread waiter_;
};

}  // namespace outsize::tool
