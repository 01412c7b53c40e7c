// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/delay_line.hpp>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <outsize/base/assert.hpp>

namespace outsize::io {

/// The attempts, and the thread.
class delay_line::line {
 public:
  explicit line(std::function<void(attempt)> release) : release_(std::move(release)) {}
  line(line const&) = delete;
  line& operator=(line const&) = delete;
  ~line();

  void hold(attempt work, clock::time_point due) noexcept;
  bool withdraw(request const& owner) noexcept;

 private:
  void serve();

  std::function<void(attempt)> release_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::multimap<clock::time_point, attempt> held_;
  bool stopping_ = false;
  std::thread thread_;
};

delay_line::delay_line(std::function<void(attempt)> release)
    : line_(std::make_unique<line>(std::move(release))) {}
delay_line::~delay_line() = default;

void delay_line::hold(attempt work, clock::time_point due) noexcept {
  line_->hold(std::move(work), due);
}

bool delay_line::withdraw(request const& owner) noexcept { return line_->withdraw(owner); }

delay_line::line::~line() {
  {
    std::lock_guard lock(mutex_);
    OUTSIZE_ASSERT(held_.empty());
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void delay_line::line::hold(attempt work, clock::time_point due) noexcept {
  work.is_awaited = false;  // by the thread that will start it
  {
    std::lock_guard lock(mutex_);
    try {
      if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
      held_.emplace(due, std::move(work));
      changed_.notify_one();
      return;
    } catch (std::exception const&) {
      // No thread to be had, or no memory: it is done at once.
    }
  }
  release_(std::move(work));
}

bool delay_line::line::withdraw(request const& owner) noexcept {
  attempt taken{};  // released after the lock: with it may go the last reference to the request
  std::lock_guard lock(mutex_);
  auto const found = std::ranges::find_if(
      held_, [&](auto const& entry) { return entry.second.owner.get() == &owner; });
  if (found == held_.end()) return false;
  taken = std::move(found->second);
  held_.erase(found);
  return true;
}

void delay_line::line::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (held_.empty()) {
      if (stopping_) return;
      changed_.wait(lock);
    } else if (auto const due = held_.begin()->first; due > clock::now()) {
      changed_.wait_until(lock, due);
    } else {
      attempt work = std::move(held_.begin()->second);
      held_.erase(held_.begin());
      lock.unlock();
      release_(std::move(work));
      lock.lock();
    }
  }
}

}  // namespace outsize::io
