// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// One line on a terminal that shows how far a piece of work has come. Layer: base.
//
//   merging  [############............]  50 %  2 GiB of 4 GiB  800 MiB/s  3 s left
//
// A line belongs to one thread at a time.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace outsize {

/// The text for a state: what is done, bar, bytes of bytes in all (0: not known), rate, time that
/// remains.
std::string progress_text(std::string_view what, std::uint64_t done_bytes,
                          std::uint64_t total_bytes, double elapsed_seconds);

/// Redraws the line at most ten times a second; removes it when destroyed.
class progress_line {
 public:
  explicit progress_line(std::FILE* terminal = stderr) : terminal_(terminal) {}
  progress_line(progress_line const&) = delete;
  progress_line& operator=(progress_line const&) = delete;
  ~progress_line();

  void show(std::string_view what, std::uint64_t done_bytes, std::uint64_t total_bytes);

 private:
  using clock = std::chrono::steady_clock;
  std::FILE* terminal_;
  clock::time_point begin_ = clock::now();
  clock::time_point drawn_{};
};

}  // namespace outsize
