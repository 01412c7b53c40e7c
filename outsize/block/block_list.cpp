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
    : store_(other.store_), memory_(other.memory_), where_(std::move(other.where_)) {
  blocks_.swap(other.blocks_);
}

block_list& block_list::operator=(block_list&& other) noexcept {
  if (this == &other) return *this;
  clear();
  store_ = other.store_;
  memory_ = other.memory_;
  where_ = std::move(other.where_);
  blocks_.swap(other.blocks_);
  return *this;
}

block_id block_list::append(std::size_t length_bytes) {
  blocks_.emplace_back();
  try {
    return blocks_.back() = allocate(length_bytes);
  } catch (...) {
    blocks_.pop_back();
    throw;
  }
}

block_id block_list::prepend(std::size_t length_bytes) {
  blocks_.emplace_front();
  try {
    return blocks_.front() = allocate(length_bytes);
  } catch (...) {
    blocks_.pop_front();
    throw;
  }
}

block_id block_list::allocate(std::size_t length_bytes) {
  memory_->charge(sizeof(block_id));
  try {
    return store_->allocate(length_bytes, *where_);
  } catch (...) {
    memory_->discharge(sizeof(block_id));
    throw;
  }
}

void block_list::free_front() noexcept {
  OUTSIZE_ASSERT(!blocks_.empty());
  store_->free(blocks_.front());
  blocks_.pop_front();
  memory_->discharge(sizeof(block_id));
}

void block_list::free_back() noexcept {
  OUTSIZE_ASSERT(!blocks_.empty());
  store_->free(blocks_.back());
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
