// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/executor.hpp>

#include <algorithm>
#include <exception>

#include <outsize/base/assert.hpp>

namespace outsize {

/// One call of parallel_for. All fields are guarded by executor::mutex_.
struct executor::batch {
  std::function<void(std::size_t)> const& body;
  std::size_t count;
  std::size_t next = 0;     // the first body that has not begun
  std::size_t running = 0;  // begun and not ended
  std::size_t failed_index = 0;
  std::exception_ptr failure;
  std::condition_variable ended;
};

executor::executor(std::size_t threads) {
  OUTSIZE_ASSERT(threads > 0);
  workers_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) workers_.emplace_back([this] { work(); });
}

executor::~executor() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  arrived_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void executor::parallel_for(std::size_t count, std::function<void(std::size_t)> const& body) {
  if (count == 0) return;
  batch call{.body = body, .count = count, .failure = nullptr, .ended = {}};
  std::unique_lock lock(mutex_);
  batches_.push_back(&call);
  if (count == 1) {
    arrived_.notify_one();
  } else {
    arrived_.notify_all();
  }
  call.ended.wait(lock, [&] { return call.next == call.count && call.running == 0; });
  lock.unlock();
  if (call.failure) std::rethrow_exception(call.failure);
}

void executor::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    arrived_.wait(lock, [this] { return stopping_ || !batches_.empty(); });
    if (batches_.empty()) return;
    batch& call = *batches_.front();
    std::size_t const index = call.next++;
    if (call.next == call.count) batches_.pop_front();
    ++call.running;
    lock.unlock();
    std::exception_ptr failure;
    try {
      call.body(index);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && (!call.failure || index < call.failed_index)) {
      call.failure = failure;
      call.failed_index = index;
    }
    if (failure && call.next < call.count) {
      call.next = call.count;
      std::erase(batches_, &call);
    }
    --call.running;
    // Under the lock: the waiting call frame, and the condition with it, ends as soon as it may.
    if (call.next == call.count && call.running == 0) call.ended.notify_one();
  }
}

}  // namespace outsize
