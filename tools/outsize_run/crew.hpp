// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The processes of a run: the engine and the ranks, as outsize-run starts, watches and ends them.
//
// Whatever ends out of order ends the run: the others are killed, and programs that they have
// started, and one message says why. Each process dies with outsize-run; if that is killed, the
// engine prints the message. Files and memory of a run have no names, so nothing else is to be
// cleaned up.
//
// Invariant: signals that ask for an end are blocked while there is a process. One thread. Layer:
// tools.

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <outsize/bsp/process/process_run.hpp>

namespace outsize::launcher {

/// Prints "outsize-run: MESSAGE", one line, to standard error.
void complain(std::string const& message);

class crew {
 public:
  explicit crew(bsp::process::process_memory& memory);
  crew(crew const&) = delete;
  crew& operator=(crew const&) = delete;

  /// At an end out of order gives the engine time to tell of the run: header::is_ending.
  void let_engine_tell() noexcept { lets_engine_tell_ = true; }

  /// Starts the process that calls `serve`. It comes first: it tells if outsize-run is killed.
  void start_engine(std::function<void()> const& serve);
  /// Starts a process for each rank. @param command  Ends with nullptr.
  void start_ranks(std::vector<char*> const& command);

  /// Waits until all have ended. Returns the first exit code of a rank that is not 0. If something
  /// goes wrong here or in the functions above, ends all and outsize-run, with a message.
  int wait();

 private:
  pid_t start(char const* name, std::function<void()> const& run);
  void note_end(pid_t pid, int status);
  void engine_ended(int status);
  void rank_ended(std::uint32_t rank, int status);
  void check_signals();
  void await_engine(std::string const& message);
  [[noreturn]] void end(int code, std::string const& message);
  void kill_processes();
  bool kill_orphans();

  bsp::process::process_memory& memory_;
  sigset_t before_{}, awaited_{};  // signals
  std::vector<pid_t> strangers_;   // children from before
  std::string program_;
  std::vector<pid_t> ranks_;  // 0: has ended
  pid_t engine_ = 0;
  bool lets_engine_tell_ = false;
  std::uint32_t left_ = 0;  // processes
  int code_ = 0;
};

}  // namespace outsize::launcher
