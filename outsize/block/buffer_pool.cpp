// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/buffer_pool.hpp>

#include <mutex>

#include <outsize/base/assert.hpp>

namespace outsize::block {

buffer_pool::buffer_pool(grant& memory, std::size_t buffer_bytes, std::size_t count)
    : memory_(memory.allocate_for_overwrite(buffer_bytes * count)),
      buffer_bytes_(buffer_bytes),
      count_(count) {
  free_.reserve(count);
  // The lowest is lent first: memory that is never needed is never touched.
  for (std::size_t i = count; i-- > 0;)
    free_.push_back(memory_.bytes().subspan(i * buffer_bytes, buffer_bytes));
}

buffer_pool::~buffer_pool() {
  std::lock_guard lock(mutex_);  // whoever gave the last buffer back may not have left release()
  OUTSIZE_ASSERT(free_.size() == count_ || !process_.is_current());
}

std::size_t buffer_pool::free_count() const {
  std::lock_guard lock(mutex_);
  return free_.size();
}

frame buffer_pool::try_acquire() {
  std::lock_guard lock(mutex_);
  if (free_.empty()) return {};
  frame const lent = free_.back();
  free_.pop_back();
  return lent;
}

frame buffer_pool::acquire() {
  process_.check("buffers");
  std::unique_lock lock(mutex_);
  released_.wait(lock, [this] { return !free_.empty(); });
  frame const lent = free_.back();
  free_.pop_back();
  return lent;
}

void buffer_pool::release(frame lent) noexcept {
  OUTSIZE_ASSERT(lent.size() == buffer_bytes_);
  // Under the lock to the end: with its last buffer back, the pool may be destroyed.
  std::lock_guard lock(mutex_);
  free_.push_back(lent);
  released_.notify_one();
}

}  // namespace outsize::block
