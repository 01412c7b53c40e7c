// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A fixed team of threads that runs the data-parallel parts of an algorithm.
//
// Work is CPU work: nothing that runs here waits for I/O or for another task. Several threads may
// call parallel_for at once; they share the team. Who calls does what he can himself, as to wake
// another thread takes longer than many a body:
//
//   call of 3 bodies, team of 2:   caller  ▶ body 0 │ body 2 │ return
//                                  worker  … wakes ▶ body 1 │
//
// Invariant: no more bodies run at once than the team has threads, on whatever threads, so that a
// team of N never keeps more than N processors busy; while there is room for one more and a body
// has not begun, a worker is on its way to it. Layer: base.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace outsize {

/// A team of `threads` worker threads, started on construction and joined on destruction.
class executor {
 public:
  /// @throws std::system_error if the system does not start as many.
  explicit executor(std::size_t threads);
  executor(executor const&) = delete;
  executor& operator=(executor const&) = delete;
  ~executor();

  std::size_t threads() const noexcept { return workers_.size(); }

  /// Runs `body(0) … body(count - 1)`, each once, on team and caller; returns when all have ended.
  /// If bodies throw, the exception of the lowest index that threw is rethrown; those not yet begun
  /// are skipped then. Not to be called from a body that runs on the same team.
  void parallel_for(std::size_t count, std::function<void(std::size_t)> const& body);

 private:
  struct batch;
  void work();
  void end_workers() noexcept;
  /// How many bodies more may run.
  std::size_t room() const noexcept { return workers_.size() - running_; }
  void run_next(batch& call, std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<batch*> batches_;  // those with bodies still to begin, oldest first
  std::size_t running_ = 0;     // bodies of all batches
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace outsize
