// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A bounded queue between two stages of work: the one way in which values pass between threads that
// overlap.
//
// A channel is open, closed (what is in it can still be taken, then it is at its end) or poisoned
// (the work has failed: every call on it throws). Values leave in the order in which they came.
// Every function may be called from any thread; push and pop wait. Layer: pipeline.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include <outsize/pipeline/poisoned.hpp>

namespace outsize::pipeline {

/// A queue of up to `capacity` values between threads.
template <typename T>
class channel {
 public:
  explicit channel(std::size_t capacity) : capacity_(capacity) {}

  /// Appends `value`, waiting while the channel is full. @throws poisoned. @pre not closed.
  void push(T value) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [this] { return poisoned_ || values_.size() < capacity_; });
    if (poisoned_) throw poisoned();
    values_.push_back(std::move(value));
    not_empty_.notify_one();
  }

  /// Takes the oldest value, waiting for one; nothing at the end. @throws poisoned.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [this] { return poisoned_ || closed_ || !values_.empty(); });
    if (poisoned_) throw poisoned();
    return take();
  }

  /// Takes the oldest value if there is one now. @throws poisoned.
  std::optional<T> try_pop() {
    std::lock_guard lock(mutex_);
    if (poisoned_) throw poisoned();
    return take();
  }

  /// No more values will be pushed.
  void close() noexcept {
    std::lock_guard lock(mutex_);
    closed_ = true;
    not_empty_.notify_all();
  }

  /// The work has failed: wakes and stops everybody. What is in the channel stays until it is
  /// destroyed.
  void poison() noexcept {
    std::lock_guard lock(mutex_);
    poisoned_ = true;
    not_empty_.notify_all();
    not_full_.notify_all();
  }

  /// For stages that work long between two calls: whether they should give up.
  bool is_poisoned() const {
    std::lock_guard lock(mutex_);
    return poisoned_;
  }

  /// Values in it now.
  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return values_.size();
  }

 private:
  std::optional<T> take() {
    if (values_.empty()) return std::nullopt;
    std::optional<T> value(std::move(values_.front()));
    values_.pop_front();
    not_full_.notify_one();
    return value;
  }

  std::size_t capacity_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable not_full_;
  std::condition_variable not_empty_;
  std::deque<T> values_;
  bool closed_ = false;
  bool poisoned_ = false;
};

}  // namespace outsize::pipeline
