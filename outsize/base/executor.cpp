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

  bool has_ended() const noexcept { return next == count && running == 0; }
};

executor::executor(std::size_t threads) : workers_(threads) {
  OUTSIZE_ASSERT(threads > 0);
  try {
    for (auto& worker : workers_) worker = std::thread([this] { work(); });
  } catch (...) {
    end_workers();
    throw;
  }
}

executor::~executor() {
  OUTSIZE_ASSERT(batches_.empty() && running_ == 0);
  end_workers();
}

/// Those that were started.
void executor::end_workers() noexcept {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  arrived_.notify_all();
  for (auto& worker : workers_)
    if (worker.joinable()) worker.join();
}

void executor::parallel_for(std::size_t count, std::function<void(std::size_t)> const& body) {
  if (count == 0) return;
  batch call{.body = body, .count = count, .failure = nullptr, .ended = {}};
  std::unique_lock lock(mutex_);
  batches_.push_back(&call);
  for (std::size_t others = 1; others < std::min(count, room()); ++others) arrived_.notify_one();
  // Not in front of a call that has waited longer: whoever calls again and again would be quicker
  // than the worker that is woken for it.
  while (call.next < call.count && room() > 0 && batches_.front() == &call) run_next(call, lock);
  // A worker goes on by itself where another call waits; who leaves his place must say so.
  if (!batches_.empty() && room() > 0) arrived_.notify_one();
  call.ended.wait(lock, [&] { return call.has_ended(); });
  lock.unlock();
  if (call.failure) std::rethrow_exception(call.failure);
}

void executor::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    arrived_.wait(lock, [this] { return stopping_ || (!batches_.empty() && room() > 0); });
    if (batches_.empty()) return;
    run_next(*batches_.front(), lock);
  }
}

/// Runs the next body of a batch. @pre room() > 0; `lock` is held, as it is afterwards.
void executor::run_next(batch& call, std::unique_lock<std::mutex>& lock) {
  std::size_t const index = call.next++;
  if (call.next == call.count) std::erase(batches_, &call);
  ++call.running;
  ++running_;
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
  --running_;
  --call.running;
  // Under the lock: the waiting call frame, and the condition with it, ends as soon as it may.
  if (call.has_ended()) call.ended.notify_one();
}

}  // namespace outsize
