// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A request queue that needs nothing of the kernel but blocking calls: a team of threads, each with
// one attempt under way, which a transfer_method moves.
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

/// How the threads move the bytes of an attempt.
struct transfer_method {
  std::string_view name;  ///< Of the queue.
  bool moves_directly;    ///< Whether it can go past the page cache.
  /// Moves all bytes or a part and returns their number (0: the file ended), or a negative errno.
  /// Blocks.
  std::int64_t (*move)(int file_descriptor, attempt const& work) noexcept;
};

/// pread and pwrite.
std::int64_t transfer_by_calls(int file_descriptor, attempt const& work) noexcept;
inline constexpr transfer_method by_calls{"threads", true, transfer_by_calls};

class thread_queue final : public request_queue {
 public:
  /// @throws std::system_error if not even one thread can be started.
  explicit thread_queue(std::size_t depth, transfer_method how = by_calls);
  ~thread_queue() override;

  void start(int file_descriptor, attempt work) noexcept override;
  bool withdraw(request const& owner) noexcept override;
  std::string_view name() const noexcept override { return how_.name; }
  bool moves_directly() const noexcept override { return how_.moves_directly; }
  std::size_t depth() const noexcept override { return depth_; }

 private:
  struct entry {
    int file_descriptor;
    attempt work;
  };

  void serve();
  bool enqueue(entry& next) noexcept;
  void add_thread();

  std::size_t const depth_;
  transfer_method const how_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable arrived_;
  std::deque<entry> pending_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace outsize::io
