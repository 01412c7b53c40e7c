// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A sequence of blocks on disk that belong together, such as the content of a container.
//
// It allocates them, spread over the disks by a placement of its own, and owns them: their space
// goes back to the storage when they leave the list, at either end, or with the list. Some may have
// a number and no space yet. It says where blocks are, not what is in them. Invariant: every block
// in the list is allocated, or empty, and in no other list. One thread at a time uses a list.
// Layer: block.

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/block/block_id.hpp>
#include <outsize/block/placement.hpp>
#include <outsize/block/storage.hpp>

namespace outsize::block {

/// Blocks of any lengths in a row, owned. Movable; what was moved from can only be assigned to or
/// destroyed, which is asserted.
class block_list {
 public:
  using const_iterator = std::deque<block_id>::const_iterator;

  /// An empty one on `store`, which must outlive it, as `memory` must.
  /// @param memory  Is charged sizeof(block_id) for each block.
  /// @param where   Says which disks the blocks go to; by default as the storage's options say.
  block_list(storage& store, grant& memory, std::unique_ptr<placement> where);
  block_list(storage& store, grant& memory) : block_list(store, memory, store.new_placement()) {}
  block_list(block_list&& other) noexcept;
  block_list& operator=(block_list&& other) noexcept;
  /// Frees all blocks. @pre no request on them is under way, here and wherever they are freed.
  ~block_list() { clear(); }

  /// Allocates a block behind the last one; `length_bytes` is rounded up to the disk's alignment.
  /// @pre that is less than 4 GiB.
  /// @throws out_of_space, budget_error, io_error (the disk's file cannot be made); the list is
  /// unchanged then.
  block_id append(std::size_t length_bytes);
  /// Allocates a block in front of the first one, likewise.
  block_id prepend(std::size_t length_bytes);
  /// The same, but without space: an empty block_id, until fill(). @throws budget_error.
  void append_empty();
  void prepend_empty();
  /// Allocates the space of a block that has none. @throws as append(); it has none then.
  block_id fill(std::size_t index, std::size_t length_bytes);
  /// Frees the space of a block, which stays in the list.
  void vacate(std::size_t index) noexcept;
  /// Frees the first block. @pre !empty().
  void free_front() noexcept;
  /// Frees the last block. @pre !empty().
  void free_back() noexcept;
  /// Frees all.
  void clear() noexcept;
  /// Exchanges its blocks, but not where new ones go to, for those of a list of the same storage
  /// and memory.
  void swap_blocks(block_list& other) noexcept {
    blocks_.swap(other.blocks_);
    std::swap(empty_count_, other.empty_count_);
  }

  storage& store() const noexcept {
    OUTSIZE_ASSERT(store_ != nullptr && "used after it was moved from");
    return *store_;
  }
  /// Where new blocks go to.
  placement const& where() const noexcept { return *where_; }
  bool empty() const noexcept { return size() == 0; }
  std::size_t size() const noexcept {
    OUTSIZE_ASSERT(store_ != nullptr && "used after it was moved from");
    return blocks_.size();
  }
  /// How many of them have no space.
  std::size_t empty_count() const noexcept { return empty_count_; }
  /// The length of the longest block in the list; 0 if it is empty. CPU: O(size()).
  std::size_t longest_bytes() const noexcept;

  block_id operator[](std::size_t index) const noexcept { return blocks_[index]; }
  block_id front() const noexcept { return blocks_.front(); }
  block_id back() const noexcept { return blocks_.back(); }
  const_iterator begin() const noexcept { return blocks_.begin(); }
  const_iterator end() const noexcept { return blocks_.end(); }

 private:
  void free(block_id const& id) noexcept {
    if (id)
      store_->free(id);
    else
      --empty_count_;
  }

  storage* store_;
  grant* memory_;
  std::unique_ptr<placement> where_;
  std::deque<block_id> blocks_;
  std::size_t empty_count_ = 0;
};

}  // namespace outsize::block
