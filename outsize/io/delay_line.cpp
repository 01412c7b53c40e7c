// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/delay_line.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include <outsize/base/assert.hpp>

namespace outsize::io {

delay_line::~delay_line() {
  {
    std::lock_guard lock(mutex_);
    OUTSIZE_ASSERT(held_.empty());
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void delay_line::hold(attempt work, clock::time_point due) noexcept {
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

bool delay_line::withdraw(request const& owner) noexcept {
  attempt taken{};  // released after the lock: with it may go the last reference to the request
  std::lock_guard lock(mutex_);
  auto const found = std::ranges::find_if(
      held_, [&](auto const& entry) { return entry.second.owner.get() == &owner; });
  if (found == held_.end()) return false;
  taken = std::move(found->second);
  held_.erase(found);
  return true;
}

void delay_line::serve() {
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
