// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The request queue that needs nothing but pread and pwrite: a team of threads, each with one call
// under way.
//
// Attempts begin in the order of their issue. Threads are started as attempts need them, up to the
// depth, and stay. Invariant: an attempt is in pending_ or with one thread, never both. Layer: io.

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include <outsize/io/request_queue.hpp>

namespace outsize::io {

class thread_queue final : public request_queue {
 public:
  /// @throws std::system_error if not even one thread can be started.
  explicit thread_queue(std::size_t depth);
  ~thread_queue() override;

  void start(int file_descriptor, attempt work) noexcept override;
  bool withdraw(request const& owner) noexcept override;
  std::string_view name() const noexcept override { return "threads"; }
  std::size_t depth() const noexcept override { return depth_; }

 private:
  struct entry {
    int file_descriptor;
    attempt work;
  };

  void serve();
  void add_thread();

  std::size_t const depth_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable arrived_;
  std::deque<entry> pending_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace outsize::io
