// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The memory of a block seen as items of one type, and behind them links to other blocks and a
// record about the block.
//
//   | item 0 | item 1 | item 2 | … | item n-1 | unused | link 0 | link 1 | info |
//   ^ begin                                                                     ^ end
//
// The items fill the block from its beginning, links and info end at its end, as far as their
// alignment lets them. So the length of the memory decides where everything is: a block is looked
// at with the length with which it was written, its block_id's, and blocks of any lengths may be
// used at once. A view, like std::span: the memory is a frame of a buffer_pool, a pinned block of
// a block_cache or a buffer of one's own, and owned there. Memory that is all zero has links to
// nowhere. Thread rule as for an array of items. Layer: block.
// Source: STXXL 2008, section 4 (typed_block, whose size is a template parameter).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <outsize/base/assert.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/block_id.hpp>

namespace outsize::block {

/// The record of blocks that have none; takes no room.
struct no_info {};

/// A view of a block as items, links and info.
///
/// @tparam T          external_item; `T const` for a block that is only read.
/// @tparam Info       external_item: what is to be known about each block, such as how many of its
///                    items are in use.
/// @tparam LinkCount  References to other blocks, such as the next and the previous one.
template <typename T, stored_item Info = no_info, std::size_t LinkCount = 0>
  requires stored_item<std::remove_const_t<T>>
class typed_block {
  template <typename Part>
  using like_items = std::conditional_t<std::is_const_v<T>, Part const, Part>;

  static constexpr std::size_t info_bytes = std::is_empty_v<Info> ? 0 : sizeof(Info);
  static constexpr std::size_t links_bytes = LinkCount * sizeof(block_id);
  static constexpr std::size_t links_alignment = LinkCount == 0 ? 1 : alignof(block_id);

 public:
  using item = std::remove_const_t<T>;
  using info_type = Info;

  /// What the address of the memory must be a multiple of.
  static constexpr std::size_t alignment_bytes =
      std::max({alignof(T), alignof(Info), links_alignment});

  /// The items of a block of so many bytes; 0 if it is too short for any.
  static constexpr std::size_t items_in(std::size_t block_bytes) noexcept {
    return block_bytes < block_bytes_for(0) ? 0 : links_begin(block_bytes) / sizeof(T);
  }
  /// The least length of a block of at least `item_count` items.
  static constexpr std::size_t block_bytes_for(std::size_t item_count) noexcept {
    std::size_t const links_end = round_up(item_count * sizeof(T), links_alignment) + links_bytes;
    return round_up(links_end, alignof(Info)) + info_bytes;
  }

  /// Looks at `memory`, all of it, as a block. Nothing is initialised.
  /// @pre memory is aligned to alignment_bytes and has block_bytes_for(0) bytes at least.
  explicit typed_block(std::span<like_items<std::byte>> memory) noexcept : memory_(memory) {
    OUTSIZE_ASSERT(memory.size() >= block_bytes_for(0));
    OUTSIZE_ASSERT(reinterpret_cast<std::uintptr_t>(memory.data()) % alignment_bytes == 0);
  }

  /// The number of items: as many as fit, whether they are in use or not.
  std::size_t size() const noexcept { return links_begin(memory_.size()) / sizeof(T); }
  std::span<T> items() const noexcept { return {at<T>(0), size()}; }
  T& operator[](std::size_t index) const noexcept { return at<T>(0)[index]; }
  T* begin() const noexcept { return at<T>(0); }
  T* end() const noexcept { return at<T>(0) + size(); }

  /// The links: block_id{} for none.
  std::span<like_items<block_id>, LinkCount> links() const noexcept
    requires(LinkCount > 0)
  {
    return std::span<like_items<block_id>, LinkCount>(
        at<like_items<block_id>>(links_begin(memory_.size())), LinkCount);
  }

  /// What is kept about the block.
  like_items<Info>& info() const noexcept
    requires(info_bytes > 0)
  {
    return *at<like_items<Info>>(info_begin(memory_.size()));
  }

  /// All of its memory: what is written to the disk, or read from it.
  std::span<like_items<std::byte>> bytes() const noexcept { return memory_; }

 private:
  static constexpr std::size_t info_begin(std::size_t block_bytes) noexcept {
    return round_down(block_bytes - info_bytes, alignof(Info));
  }
  static constexpr std::size_t links_begin(std::size_t block_bytes) noexcept {
    return round_down(info_begin(block_bytes) - links_bytes, links_alignment);
  }
  template <typename Part>
  Part* at(std::size_t offset_bytes) const noexcept {
    return reinterpret_cast<Part*>(memory_.data() + offset_bytes);
  }

  std::span<like_items<std::byte>> memory_;
};

}  // namespace outsize::block
