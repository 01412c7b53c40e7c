// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A file that is as slow as one likes: a latency for each attempt, and a rate for all of them
// together.
//
// Transfers go one after another through a channel of the given rate; latencies overlap. Thread
// rule as file's. Layer: io.

#include <chrono>
#include <cstdint>
#include <mutex>

#include <outsize/io/decorators/file_decorator.hpp>
#include <outsize/io/delay_line.hpp>

namespace outsize::io {

/// The speed of a slower disk.
struct throttle {
  std::uint64_t bytes_per_second = 0;  ///< 0: no limit.
  std::chrono::nanoseconds latency{0};
};

/// A file that is no faster than its limits.
class throttled_file final : public file_decorator {
 public:
  throttled_file(file_ptr inner, throttle limits);
  ~throttled_file() override { drain(); }

  void start(attempt work) noexcept override;
  bool withdraw(request const& owner) noexcept override;

 private:
  throttle const limits_;
  std::mutex mutex_;
  delay_line::clock::time_point channel_free_;  // guarded by mutex_
  delay_line line_;
};

}  // namespace outsize::io
