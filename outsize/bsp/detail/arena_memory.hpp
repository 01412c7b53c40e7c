// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The memory of one arena, as the pager comes and goes with it: frames behind pieces. How frames
// are had, and who else maps them, is the face's (local_arena.hpp: memory of this process).
// Different pieces may be used by different threads. Layer: bsp.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace outsize::bsp::detail {

class arena_memory {
 public:
  arena_memory() = default;
  arena_memory(arena_memory const&) = delete;
  arena_memory& operator=(arena_memory const&) = delete;
  virtual ~arena_memory() = default;

  /// Puts frames full of zeros behind pieces that have none. @throws std::bad_alloc; of frames in
  /// files out_of_space, io_error.
  virtual void populate(std::size_t first_piece, std::size_t pieces) = 0;
  /// The same for pieces that are read from disk, where clearing may be left out. Returns true if
  /// the frames are full of zeros.
  virtual bool populate_to_read(std::size_t first_piece, std::size_t pieces) {
    populate(first_piece, pieces);
    return true;
  }
  /// Takes the frame of a piece away.
  virtual void drop(std::size_t piece) noexcept = 0;
  /// The frame of a piece, where this process can read and write it.
  virtual std::span<std::byte> bytes_of(std::size_t piece) const noexcept = 0;
  /// Where bytes lie in an arena that this process has mapped as a whole; nullopt: elsewhere.
  virtual std::optional<std::uint64_t> offset_of(
      std::span<std::byte const> /*bytes*/) const noexcept {
    return std::nullopt;
  }
  /// Bits of the pages in use, page 0 the lowest bit of the first word.
  virtual std::span<std::uint64_t const> used_pages() const noexcept = 0;
};

}  // namespace outsize::bsp::detail
