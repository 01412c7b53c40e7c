// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The arena of a fiber: private memory of this process, where its heap places objects. Frames that
// it gives back serve other arenas of the run as they are, so fresh memory may hold anything. One
// thread at a time, but for frames of different pieces. Layer: bsp.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <outsize/bsp/detail/arena_heap.hpp>
#include <outsize/bsp/detail/arena_memory.hpp>
#include <outsize/bsp/detail/arena_shape.hpp>
#include <outsize/bsp/linux/arena_range.hpp>
#include <outsize/bsp/linux/frame_stash.hpp>

namespace outsize::bsp::detail {

class local_arena final : public arena_memory {
 public:
  /// @param spare  Takes and gives frames; nullptr: the system does. @throws std::bad_alloc.
  local_arena(arena_shape const& shape, arena_owner const& owner, frame_stash* spare = nullptr);

  arena_heap& heap() noexcept { return heap_; }

  void populate(std::size_t first_piece, std::size_t pieces) override;
  bool populate_to_read(std::size_t first_piece, std::size_t pieces) override;
  void drop(std::size_t piece) noexcept override;
  std::span<std::byte> bytes_of(std::size_t piece) const noexcept override {
    return {range_.data() + piece * piece_bytes_, piece_bytes_};
  }
  std::optional<std::uint64_t> offset_of(std::span<std::byte const> bytes) const noexcept override;
  std::span<std::uint64_t const> used_pages() const noexcept override { return heap_.used_pages(); }

 private:
  std::uint64_t piece_bytes_;
  frame_stash* spare_;
  std::vector<std::uint8_t> has_frame_;  // by piece
  arena_range range_;
  arena_range tables_;
  arena_heap heap_;
};

}  // namespace outsize::bsp::detail
