// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The virtual processor that this thread runs now, for functions that are not told: allocators, and
// interfaces of C. Any thread asks about itself. Layer: bsp.

#include <cstdint>

namespace outsize::bsp::detail {

class arena_heap;
class engine;

struct this_processor {
  engine* run = nullptr;  ///< nullptr: this thread runs none.
  std::uint32_t rank = 0;
  arena_heap* heap = nullptr;
  void** face = nullptr;  ///< A place for the face's state of this processor.
};

/// @pre the thread runs a virtual processor: asserts.
this_processor const& current_processor() noexcept;

}  // namespace outsize::bsp::detail
