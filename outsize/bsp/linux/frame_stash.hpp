// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Frames that arenas of one run have given back, with their contents: moved to another arena, they
// cost nothing, while the system would clear new ones, which takes as long as a fast disk needs to
// fill them.
//
//   arena of rank 3   | piece | piece | ┄┄┄┄┄ |           put(): pages go to a slot
//   stash             | slot  | slot  |  …                take(): to a piece without frame
//
// Pages keep their contents, so those who take them must not expect zeros. Any thread. Layer: bsp.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <outsize/bsp/linux/arena_range.hpp>

namespace outsize::bsp::detail {

class frame_stash {
 public:
  /// For `frames` frames of `frame_bytes`, a multiple of 2 MiB. More than some thousand frames are
  /// not kept: each is a mapping of its own, and a process may have few.
  /// @throws std::bad_alloc.
  frame_stash(std::uint64_t frame_bytes, std::uint64_t frames);

  /// Takes the pages behind a frame's addresses; none are left there. Returns false if
  /// it cannot: all is as before.
  bool put(std::byte* frame) noexcept;
  /// Puts pages behind addresses that have none. Returns false if there are none, or if it cannot:
  /// the pages of one frame are gone then, as the caller makes others.
  bool take(std::byte* frame) noexcept;

 private:
  std::uint64_t frame_bytes_;
  arena_range range_;
  std::mutex mutex_;  // guards the following members
  std::vector<std::byte*> empty_, full_;
};

}  // namespace outsize::bsp::detail
