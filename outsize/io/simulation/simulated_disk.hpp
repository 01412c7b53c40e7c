// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A disk that is not there: takes the time that a model says, on a clock that costs nobody any
// time.
//
// What lies on it are simulated_files (decorators/); all of one disk share its arm. By default each
// request counts as having been there from the beginning: the clock says how long the disk was
// busy, and nobody sleeps. So the parallel I/O time of a program on several disks, if it computes
// in no time and keeps every disk supplied, is the largest elapsed() of theirs. With
// disk_pace::real_time requests arrive when they are issued and end when they would on such a disk.
//
// Requests are served in the order of their issue. From one thread they are the same in each run,
// and so are the times. Every function may be called from any thread. Layer: io. Source: the
// parallel disk model, Vitter, Shriver: Algorithms for parallel memory I, Algorithmica 12, 1994,
// with seconds in the place of steps.

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include <outsize/io/delay_line.hpp>
#include <outsize/io/request.hpp>
#include <outsize/io/simulation/disk_model.hpp>

namespace outsize::io {

enum class disk_pace : std::uint8_t { no_waiting, real_time };

/// A model with a clock, which the files on it share.
class simulated_disk {
 public:
  explicit simulated_disk(std::unique_ptr<disk_model> model,
                          disk_pace pace = disk_pace::no_waiting);

  std::uint64_t capacity_bytes() const noexcept { return model_->capacity_bytes(); }
  /// When the last request so far has ended, by the disk's clock.
  std::chrono::nanoseconds elapsed() const;
  /// What the times of all requests so far were made of, added up.
  disk_time time() const;
  /// How many there were: a request of a file may be several, if it takes several attempts.
  std::uint64_t request_count() const;

  /// For simulated_file: a request of now (its `arrival` is not looked at). Returns when it may
  /// end; nothing: at once.
  std::optional<delay_line::clock::time_point> serve(disk_request asked) noexcept;

 private:
  std::unique_ptr<disk_model> const model_;
  disk_pace const pace_;
  delay_line::clock::time_point const start_ = delay_line::clock::now();
  mutable std::mutex mutex_;  // guards the model and what follows
  std::chrono::nanoseconds elapsed_{0};
  disk_time time_;
  std::uint64_t request_count_ = 0;
};

}  // namespace outsize::io
