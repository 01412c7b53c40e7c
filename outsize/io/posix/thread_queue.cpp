// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/posix/thread_queue.hpp>

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <new>
#include <utility>

#include <outsize/base/assert.hpp>

namespace outsize::io {

std::int64_t transfer_by_calls(int file_descriptor, attempt const& work) noexcept {
  auto const offset = static_cast<off_t>(work.offset_bytes);
  auto const moved = work.kind == operation::read
                         ? ::pread(file_descriptor, work.data, work.length_bytes, offset)
                         : ::pwrite(file_descriptor, work.data, work.length_bytes, offset);
  return moved >= 0 ? moved : -errno;
}

thread_queue::thread_queue(std::size_t depth, transfer_method how) : depth_(depth), how_(how) {
  threads_.reserve(depth_);
  std::lock_guard lock(mutex_);
  add_thread();
}

thread_queue::~thread_queue() {
  {
    std::lock_guard lock(mutex_);
    OUTSIZE_ASSERT(pending_.empty());
    stopping_ = true;
  }
  arrived_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void thread_queue::start(int file_descriptor, attempt work) noexcept {
  entry next{file_descriptor, std::move(work)};
  if (!next.work.is_awaited && enqueue(next)) return arrived_.notify_one();
  next.work.owner->attempt_ended(how_.move(file_descriptor, next.work));
}

/// Returns false, and leaves the entry as it is, if there is no memory to note it.
bool thread_queue::enqueue(entry& next) noexcept {
  std::lock_guard lock(mutex_);
  try {
    pending_.push_back(std::move(next));
  } catch (std::bad_alloc const&) {
    return false;
  }
  if (pending_.size() <= idle_ || threads_.size() >= depth_) return true;
  try {
    add_thread();
  } catch (std::exception const&) {
    // The threads that there are do the work, more slowly.
  }
  return true;
}

bool thread_queue::withdraw(request const& owner) noexcept {
  entry taken{};  // released after the lock: with it may go the last reference to the request
  std::lock_guard lock(mutex_);
  auto const found = std::ranges::find_if(
      pending_, [&](entry const& waiting) { return waiting.work.owner.get() == &owner; });
  if (found == pending_.end()) return false;
  taken = std::move(*found);
  pending_.erase(found);
  return true;
}

/// @pre mutex_ is held. A new thread counts as idle until it runs.
void thread_queue::add_thread() {
  threads_.emplace_back([this] { serve(); });
  ++idle_;
}

void thread_queue::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    arrived_.wait(lock, [this] { return stopping_ || !pending_.empty(); });
    if (pending_.empty()) return;
    --idle_;
    entry const next = std::move(pending_.front());
    pending_.pop_front();
    lock.unlock();
    next.work.owner->attempt_ended(how_.move(next.file_descriptor, next.work));
    lock.lock();
    ++idle_;
  }
}

}  // namespace outsize::io
