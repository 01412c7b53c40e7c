// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Code run in a process that comes from a fork of the test. Layer: testing.

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace outsize::scratch {

/// Calls `body` in a new process, which `body` may end, or else ends as if it had returned from
/// main(). Returns how that ended: the status, 0 if all is well, or minus the signal. A signal ends
/// a process that hangs.
template <typename Body>
int status_of_fork(Body const& body) {
  std::fflush(nullptr);
  pid_t const child = ::fork();
  if (child == 0) {
    ::alarm(60);
    body();
    std::exit(0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// Whether `claim` returns true in a new process.
template <typename Claim>
bool holds_after_fork(Claim const& claim) {
  return status_of_fork([&] { std::_Exit(claim() ? 0 : 1); }) == 0;
}

}  // namespace outsize::scratch
