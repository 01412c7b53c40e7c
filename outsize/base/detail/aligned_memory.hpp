// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Memory of the heap that begins at a multiple of what direct I/O, or a loop over cache lines, asks
// for. Invariant: it goes back when its owner does. Threads: any. Layer: base.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

#include <outsize/base/assert.hpp>
#include <outsize/base/units.hpp>

namespace outsize::detail {

/// Gives back what allocate_aligned() gave.
struct release_aligned {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

/// Items side by side, aligned as they were asked for.
template <typename T>
using aligned_memory = std::unique_ptr<T[], release_aligned>;

/// So many items, whose values are not known. @param alignment_bytes  A power of two.
/// @throws std::bad_alloc.
template <typename T>
aligned_memory<T> allocate_aligned(std::size_t items, std::size_t alignment_bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  OUTSIZE_ASSERT(std::has_single_bit(alignment_bytes));
  std::size_t const alignment = std::max({alignment_bytes, alignof(T), sizeof(void*)});
  aligned_memory<T> memory(
      static_cast<T*>(std::aligned_alloc(alignment, round_up(items * sizeof(T), alignment))));
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace outsize::detail
