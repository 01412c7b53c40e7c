// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What comes out of a sort. Values, but for windows_at_large. Layer: algorithm.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <outsize/base/memory_budget.hpp>

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

/// How much of an output its consumer has got. What comes out is always the same, but not where its
/// windows end.
struct delivered_items {
  std::uint64_t bytes = 0;
  std::uint64_t items = 0;

  void add(sorted_window const& window) noexcept {
    bytes += window.bytes;
    items += window.items;
  }
  /// Leaves out of the window what is to be skipped of it, which is counted no longer.
  void skip_in(sorted_window& window) noexcept {
    if (bytes == 0) return;
    bool const all = window.bytes <= bytes;
    std::size_t const of_bytes = all ? window.bytes : static_cast<std::size_t>(bytes);
    std::size_t const of_items = all ? window.items : static_cast<std::size_t>(items);
    window.lead += of_bytes;
    window.bytes -= of_bytes;
    window.items -= of_items;
    bytes -= of_bytes;
    items -= of_items;
  }
};

/// A part of the memory of all windows.
struct window_place {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  bool is_lent = false;
};

/// Windows that their consumer still uses when the output has ended: as long as he does, their
/// memory stays.
class windows_at_large {
 public:
  void keep(buffer&& memory, std::span<window_place const> places);
  bool have(sorted_window const& window) const noexcept;
  /// @pre have(window).
  void recycle(sorted_window const& window) noexcept;
  std::uint64_t bytes() const noexcept;

 private:
  struct kept {
    buffer memory;
    std::size_t lent_bytes;
    std::size_t count;  // of windows that are still used
  };
  std::vector<kept> kept_;
};

}  // namespace outsize::detail
