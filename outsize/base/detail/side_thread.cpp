// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/side_thread.hpp>

#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/executor.hpp>

namespace outsize::detail {

side_thread::~side_thread() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard const lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void side_thread::start(std::function<void()> errand) {
  process_.check(name);
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  {
    std::lock_guard const lock(mutex_);
    OUTSIZE_ASSERT(!errand_);
    errand_ = std::move(errand);
  }
  changed_.notify_all();
}

void side_thread::wait() {
  process_.check(name);
  executor::absence const waiting;  // for what may need the team
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !errand_; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void side_thread::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return errand_ || is_ending_; });
    if (!errand_) return;
    lock.unlock();
    std::exception_ptr failure;
    try {
      errand_();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    errand_ = nullptr;
    failure_ = failure;
    changed_.notify_all();
  }
}

}  // namespace outsize::detail
