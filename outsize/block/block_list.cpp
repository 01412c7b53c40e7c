// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/block_list.hpp>

#include <algorithm>
#include <utility>

#include <outsize/base/assert.hpp>

namespace outsize::block {

block_list::block_list(storage& store, grant& memory, std::unique_ptr<placement> where)
    : store_(&store), memory_(&memory), where_(std::move(where)) {}

block_list::block_list(block_list&& other) noexcept
    : store_(std::exchange(other.store_, nullptr)),
      memory_(other.memory_),
      where_(std::move(other.where_)) {
  swap_blocks(other);
}

block_list& block_list::operator=(block_list&& other) noexcept {
  if (this == &other) return *this;
  clear();
  store_ = std::exchange(other.store_, nullptr);
  memory_ = other.memory_;
  where_ = std::move(other.where_);
  swap_blocks(other);
  return *this;
}

void block_list::append_empty() {
  OUTSIZE_ASSERT(store_ != nullptr && "used after it was moved from");
  blocks_.emplace_back();
  try {
    memory_->charge(sizeof(block_id));
  } catch (...) {
    blocks_.pop_back();
    throw;
  }
  ++empty_count_;
}

void block_list::prepend_empty() {
  OUTSIZE_ASSERT(store_ != nullptr && "used after it was moved from");
  blocks_.emplace_front();
  try {
    memory_->charge(sizeof(block_id));
  } catch (...) {
    blocks_.pop_front();
    throw;
  }
  ++empty_count_;
}

block_id block_list::append(std::size_t length_bytes) {
  append_empty();
  try {
    return fill(size() - 1, length_bytes);
  } catch (...) {
    free_back();
    throw;
  }
}

block_id block_list::prepend(std::size_t length_bytes) {
  prepend_empty();
  try {
    return fill(0, length_bytes);
  } catch (...) {
    free_front();
    throw;
  }
}

block_id block_list::fill(std::size_t index, std::size_t length_bytes) {
  OUTSIZE_ASSERT(!blocks_[index]);
  blocks_[index] = store_->allocate(length_bytes, *where_);
  --empty_count_;
  return blocks_[index];
}

void block_list::vacate(std::size_t index) noexcept {
  free(std::exchange(blocks_[index], block_id()));
  ++empty_count_;
}

void block_list::free_front() noexcept {
  OUTSIZE_ASSERT(!blocks_.empty());
  free(blocks_.front());
  blocks_.pop_front();
  memory_->discharge(sizeof(block_id));
}

void block_list::free_back() noexcept {
  OUTSIZE_ASSERT(!blocks_.empty());
  free(blocks_.back());
  blocks_.pop_back();
  memory_->discharge(sizeof(block_id));
}

void block_list::clear() noexcept {
  while (!blocks_.empty()) free_back();
}

std::size_t block_list::longest_bytes() const noexcept {
  std::size_t longest = 0;
  for (block_id const& id : blocks_) longest = std::max<std::size_t>(longest, id.length_bytes);
  return longest;
}

}  // namespace outsize::block
