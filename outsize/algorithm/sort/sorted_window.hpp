// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What comes out of a sort. Values. Layer: algorithm.

#include <cstddef>
#include <span>

namespace outsize::detail {

/// Sorted items in a piece of the engine's memory: `lead` free bytes, then the items.
struct sorted_window {
  std::span<std::byte> memory;
  std::size_t lead = 0;
  std::size_t bytes = 0;
  std::size_t items = 0;
  std::size_t index = 0;  // of the engine's windows

  std::span<std::byte> data() const noexcept { return memory.subspan(lead, bytes); }
};

}  // namespace outsize::detail
