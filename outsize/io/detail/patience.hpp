// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How often an operation is tried again that the system refuses for the moment.
//
// A file system may say EAGAIN or EINTR once, and then nothing is wrong; or for ever, and then the
// operation must fail rather than hang. Not for pipes and terminals: what waits for another program
// may wait without an end. One thread at a time.
// Layer: io.

#include <cerrno>
#include <chrono>

namespace outsize::io::detail {

/// The refusals of one operation in a row.
class patience {
 public:
  /// Counts a refusal, and pauses if the system is short of something (EAGAIN); returns whether to
  /// try again. Patience ends after ten seconds of pauses, or after a thousand refusals for other
  /// reasons.
  bool try_again(int error_number) noexcept;
  /// Forgets the refusals: the operation has got on.
  void renew() noexcept { refusals_ = pauses_ = 0; }

  /// The pause before a next attempt after so many: none at first, then twice as long each time, up
  /// to a quarter of a second.
  static std::chrono::milliseconds pause_after(unsigned attempts) noexcept;

 private:
  unsigned refusals_ = 0;
  unsigned pauses_ = 0;
};

/// Whether a call that failed with `error_number` may succeed when it is made again as it was.
bool is_passing(int error_number) noexcept;

/// Makes a call of the system, which fails with -1 and errno, until it succeeds, fails for good, or
/// patience ends. Returns what it returned last.
template <typename Call>
auto call_patiently(Call const& call) noexcept {
  patience left;
  for (;;) {
    auto const result = call();
    if (result != -1 || !is_passing(errno) || !left.try_again(errno)) return result;
  }
}

}  // namespace outsize::io::detail
