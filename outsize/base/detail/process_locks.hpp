// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A mutex and a condition that are inert in a process which comes from a fork: a thread that held
// the lock, or would wake a waiter, is not there.
//
// In the process that made them they are those of the standard library. In another one locking and
// waiting return at once: only destructors of copies get there, in one thread. What such a wait was
// for has not happened; whoever needs it asks process_mark first. Any thread. Layer: base.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include <outsize/base/detail/process_mark.hpp>

namespace outsize::detail {

/// To be locked by std::lock_guard and std::unique_lock.
class process_mutex {
 public:
  process_mutex() = default;
  process_mutex(process_mutex const&) = delete;
  process_mutex& operator=(process_mutex const&) = delete;

  void lock() {
    if (mark_.is_current()) mutex_.lock();
  }
  bool try_lock() { return !mark_.is_current() || mutex_.try_lock(); }
  void unlock() noexcept {
    if (mark_.is_current()) mutex_.unlock();
  }

 private:
  friend class process_condition;
  process_mark mark_;
  std::mutex mutex_;
};

/// Goes with process_mutex. Its destructor waits for nobody in another process.
class process_condition {
 public:
  process_condition() { std::construct_at(&condition_); }
  process_condition(process_condition const&) = delete;
  process_condition& operator=(process_condition const&) = delete;
  ~process_condition() {
    if (mark_.is_current()) std::destroy_at(&condition_);
  }

  template <typename Predicate>
  void wait(std::unique_lock<process_mutex>& lock, Predicate is_over) {
    if (!mark_.is_current()) return;
    std::unique_lock held(lock.mutex()->mutex_, std::adopt_lock);
    condition_.wait(held, std::move(is_over));
    held.release();  // it stays locked, by `lock`
  }
  void notify_one() noexcept {
    if (mark_.is_current()) condition_.notify_one();
  }
  void notify_all() noexcept {
    if (mark_.is_current()) condition_.notify_all();
  }

 private:
  process_mark mark_;
  union {
    std::condition_variable condition_;
  };
};

}  // namespace outsize::detail
