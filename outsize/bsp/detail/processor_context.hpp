// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The memory of one virtual processor: its arena, and the map of its extents on disk.
//
//   arena     | piece | piece | piece | …      a piece has a frame (memory), a block (disk) or both
//   piece     | grain | grain | … | grain |     64 KiB: the unit of comparing and of moving
//
// A grain on disk has a checksum (XXH3, 128 bits). When its piece goes out, a grain that has the
// same checksum still is not written; one that is all zeros is neither written nor read again; nor
// is one without a page in use. So only data that are in use and have changed are moved, and this
// takes no help of the kernel. Blocks of pieces without used pages are freed.
//
// Messages may read parts of a block too (message_store.hpp): it is not changed then. A piece that
// changes gets another one, and the last reader frees the old one.
//
// Invariant: a used piece of a running processor is present. Threads: the processor's own while it
// runs, the pager's else; the states of pieces only under the lock of the run. Layer: bsp.
// Source: Nikseresht, Hutchinson, Maheshwari: PEMS, 2007, section 3 (Memory Management Subsystem),
// which writes and reads whole contexts.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <outsize/block/block_id.hpp>
#include <outsize/block/placement.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/bsp/detail/arena_memory.hpp>
#include <outsize/bsp/detail/arena_shape.hpp>
#include <outsize/bsp/detail/shared_block.hpp>

namespace outsize::bsp::detail {

/// 128 bits of XXH3.
struct grain_sum {
  std::uint64_t low = 0, high = 0;
  friend bool operator==(grain_sum const&, grain_sum const&) = default;
};
grain_sum sum_of(std::span<std::byte const> grain) noexcept;

/// Grains of one piece, side by side.
struct grain_run {
  std::uint32_t first;
  std::uint32_t count;
  friend bool operator==(grain_run const&, grain_run const&) = default;
};

class context {
 public:
  enum class state : std::uint8_t { absent, arriving, present, leaving };

  context(storage& store, arena_shape const& shape, std::unique_ptr<arena_memory> memory);
  context(context const&) = delete;
  context& operator=(context const&) = delete;
  /// Frees its blocks.
  ~context();

  arena_memory& memory() noexcept { return *memory_; }
  arena_shape const& shape() const noexcept { return shape_; }

  // ---- pieces ----

  std::size_t piece_count() const noexcept { return pieces_.size(); }
  state state_of(std::size_t piece) const noexcept { return pieces_[piece].now; }
  void set_state(std::size_t piece, state now) noexcept {
    state& before = pieces_[piece].now;
    held_ += std::size_t{now != state::absent} - std::size_t{before != state::absent};
    before = now;
  }
  /// The pieces that have frames.
  std::size_t held_pieces() const noexcept { return held_; }
  std::span<std::byte> bytes_of(std::size_t piece) const noexcept {
    return memory_->bytes_of(piece);
  }
  /// Returns true if a page of it is in use, or about to be.
  bool is_used(std::size_t piece) const noexcept;
  std::size_t used_pieces() const noexcept;

  /// Pages that the heap is about to use; makes the table long enough for their pieces.
  /// @throws std::bad_alloc.
  void want(std::uint64_t first_page, std::uint64_t pages);
  void want_nothing() noexcept { wanted_first_ = wanted_end_ = 0; }

  // ---- contents on disk ----

  /// Compares the grains of a present piece with those on disk. Notes their checksums; returns
  /// the grains to be written, fewest requests first possible. CPU: O(piece).
  std::vector<grain_run> changes(std::size_t piece);
  /// The same for a range of grains that are to lie on disk, zeros as well: the caller writes them.
  std::vector<grain_run> unsaved(std::size_t piece, grain_run wanted);
  /// Returns true if grains lie on disk as they are in memory; zeros do not.
  bool is_saved(std::size_t piece, grain_run grains) const noexcept;
  /// Grains that could not be written: they are not on disk.
  void lose(std::size_t piece, grain_run grains) noexcept;
  /// The grains of a piece that lie on disk and are in use.
  std::vector<grain_run> stored(std::size_t piece) const;
  /// Fills a present piece with zeros but for some grains.
  void clear_but(std::size_t piece, std::span<grain_run const> grains) const noexcept;
  /// The bytes in use of a piece that has a block, in whole grains.
  std::uint64_t used_bytes(std::size_t piece) const noexcept;
  /// Where grains of a piece lie; allocates the block of the piece if it has none.
  /// @throws out_of_space, io_error.
  block::block_id place_of(std::size_t piece, grain_run grains);
  /// The same of a piece that has a block.
  block::block_id known_place_of(std::size_t piece, grain_run grains) const noexcept;
  /// The block of a piece, to be read by others.
  std::shared_ptr<shared_block const> block_of(std::size_t piece) const noexcept {
    return pieces_[piece].place;
  }
  /// The contents of a piece are of no use any more; frees its block.
  void forget(std::size_t piece) noexcept;

 private:
  struct piece_entry {
    std::shared_ptr<shared_block const> place = {};
    state now = state::absent;
  };

  bool is_grain_used(std::size_t piece, std::uint32_t grain) const noexcept;
  grain_sum sum_now(std::size_t piece, std::uint32_t grain) const noexcept;
  /// Returns true if others read its block.
  bool is_read(std::size_t piece) const noexcept { return pieces_[piece].place.use_count() > 1; }
  bool has_used_page(std::uint64_t first_page, std::uint64_t pages) const noexcept;
  std::size_t grain_index(std::size_t piece, std::uint32_t grain) const noexcept {
    return piece * shape_.grains_per_piece() + grain;
  }

  storage& store_;
  arena_shape shape_;
  std::unique_ptr<arena_memory> memory_;
  std::unique_ptr<block::placement> where_;
  std::vector<piece_entry> pieces_;
  std::size_t held_ = 0;
  std::vector<grain_sum> sums_;  // of each grain as it is on disk; of zeros: it is not there
  std::uint64_t wanted_first_ = 0, wanted_end_ = 0;  // pages
};

}  // namespace outsize::bsp::detail
