// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Threads that each run one stage of a piece of work, and stop together.
//
// The first error wins: it is kept, everything registered to be stopped is stopped (channels are
// poisoned), and join() throws it. What other stages throw after that is dropped: they only felt
// the stop. start, stop_with and join belong to the owner's thread; fail may be called from any.
// Layer: pipeline.

#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace outsize::pipeline {

/// The threads of one piece of work.
class stage_group {
 public:
  stage_group() = default;
  stage_group(stage_group const&) = delete;
  stage_group& operator=(stage_group const&) = delete;
  /// Stops and joins what still runs; an error not yet thrown is lost.
  ~stage_group();

  /// Has `stop` called once when the first stage fails. It must not throw. Before the first
  /// start().
  void stop_with(std::function<void()> stop);
  /// Runs `body` in a thread of its own.
  void start(std::function<void()> body);
  /// Records an error as a stage's would be, and stops the others.
  void fail(std::exception_ptr error) noexcept;
  /// Throws the first error, if there is one; for the owner to learn why a channel was poisoned.
  void rethrow_error();
  /// Waits until every stage has ended. @throws the first error.
  void join();

 private:
  void join_threads() noexcept;

  std::vector<std::function<void()>> stops_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;  // guards error_
  std::exception_ptr error_;
};

}  // namespace outsize::pipeline
