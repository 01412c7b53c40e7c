// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Pages of a container on the disks of a storage.
//
// Invariant and thread rule: page_space's. Layer: page.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <outsize/base/memory_budget.hpp>
#include <outsize/block/block_list.hpp>
#include <outsize/block/placement.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/page/detail/page_space.hpp>

namespace outsize::detail {

/// Pages on the disks of a storage, some side by side in each block, which is allocated when one of
/// them is changed first. Memory: a block_id for each block, of the storage's budget.
class disk_pages final : public page_space {
 public:
  /// None yet. `store` must outlive it. @param page_bytes  A multiple of the disks' alignment, if
  /// there are several in a block; else rounded up to it.
  /// @param first  The number that the first page will have; a multiple of block_pages.
  disk_pages(storage& store, std::size_t page_bytes, std::unique_ptr<block::placement> where,
             std::uint64_t first = 0, std::uint64_t block_pages = 1);

  block::block_device& device() noexcept override { return store_; }
  std::uint64_t begin() const noexcept override { return first_; }
  std::uint64_t end() const noexcept override { return end_; }
  block::block_id place(std::uint64_t page) const noexcept override;
  block::block_id place_to_change(std::uint64_t page) override;
  void take_places(std::uint64_t begin, std::uint64_t end) override;
  void require_room(std::uint64_t begin, std::uint64_t end) override;
  void append() override;
  void prepend() override;
  void shrink(std::uint64_t begin, std::uint64_t end) noexcept override;
  void swap_aside() override;

 private:
  std::size_t block_of(std::uint64_t page) const noexcept {
    return static_cast<std::size_t>((page - first_) / block_pages_);
  }
  std::size_t block_bytes() const noexcept {
    return static_cast<std::size_t>(page_bytes_ * block_pages_);
  }
  void make_room_in_index();

  storage& store_;
  std::uint64_t first_;
  std::uint64_t end_;
  std::size_t page_bytes_;
  std::uint64_t block_pages_;
  grant index_;
  block::block_list blocks_;
  std::unique_ptr<block::block_list> aside_;  // once some were
  std::uint64_t aside_end_ = 0;
};

}  // namespace outsize::detail
