// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// One line on stderr that shows how far a sort has come. One thread at a time. Layer: tools.

#include <chrono>
#include <string>

#include <outsize/algorithm/sort/sort_options.hpp>

namespace outsize::tool {

/// The line for a state: phase, bar, bytes moved of bytes to move, rate, time that remains.
std::string progress_line(sort_progress const& now, double elapsed_seconds);

/// Redraws the line at most ten times a second; removes it when destroyed.
class progress_bar {
 public:
  progress_bar() = default;
  progress_bar(progress_bar const&) = delete;
  progress_bar& operator=(progress_bar const&) = delete;
  ~progress_bar();

  void show(sort_progress const& now);

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point begin_ = clock::now();
  clock::time_point drawn_{};
};

}  // namespace outsize::tool
