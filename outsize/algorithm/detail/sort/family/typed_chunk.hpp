// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Chunks of items of one C++ type, and how numbers are sorted by all threads.
//
// One thread at a time uses a chunk. Layer: algorithm. Their items: typed_items.hpp.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/sort/family/reduction.hpp>
#include <outsize/algorithm/detail/sort/family/typed_items.hpp>
#include <outsize/base/assert.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/kernel/detail/parallel_sort.hpp>

namespace outsize::detail {

/// Memory that is filled with items and then sorted in place, in one part for each thread.
template <typename Items>
class typed_chunk {
 public:
  using item = typename Items::item;

  typed_chunk(grant& memory, std::size_t bytes)
      : memory_(memory.allocate(bytes)), capacity_(bytes / sizeof(item)) {}

  std::size_t count() const noexcept { return count_; }
  std::uint64_t bytes() const noexcept { return count_ * sizeof(item); }
  std::size_t largest_item_bytes() const noexcept { return sizeof(item); }
  void clear() noexcept { count_ = 0; }
  std::span<std::byte> memory() const noexcept { return memory_.bytes(); }

  /// The part that is still to be filled; call grow() with the number of items written there.
  std::span<item> room() noexcept { return {items() + count_, capacity_ - count_}; }
  void grow(std::size_t count) noexcept { count_ += count; }

  /// Sorts the items in up to `most_parts` parts at once, and of each leaves what is to be left.
  std::vector<typed_view<item>> sort(Items const& family, executor& threads, std::size_t most_parts,
                                     equal_items equals = equal_items::kept) {
    return sort_parts(family, threads, most_parts, equals, [&](std::size_t begin, std::size_t end) {
      family.sort_part(items_in(memory_, begin, end));
    });
  }

  /// The same out of place: `scratch`, as large as the chunk, changes places with its memory.
  std::vector<typed_view<item>> sort(Items const& family, executor& threads, std::size_t most_parts,
                                     equal_items equals, buffer& scratch)
    requires(Items::sorts_out_of_place)
  {
    OUTSIZE_ASSERT(scratch.size() == memory_.size());
    std::swap(memory_, scratch);
    return sort_parts(family, threads, most_parts, equals, [&](std::size_t begin, std::size_t end) {
      family.sort_part_into(items_in(scratch, begin, end), items_in(memory_, begin, end));
    });
  }

 private:
  static std::span<item> items_in(buffer& memory, std::size_t begin, std::size_t end) noexcept {
    return {reinterpret_cast<item*>(memory.data()) + begin, end - begin};
  }
  item* items() noexcept { return items_in(memory_, 0, 0).data(); }

  template <typename Sort>
  std::vector<typed_view<item>> sort_parts(Items const& family, executor& threads,
                                           std::size_t most_parts, equal_items equals,
                                           Sort const& sort) {
    std::size_t const parts = count_ < Items::least_part_items ? 1 : most_parts;
    std::vector<typed_view<item>> views(parts);
    threads.parallel_for(parts, [&](std::size_t p) {
      std::size_t const begin = count_ * p / parts, end = count_ * (p + 1) / parts;
      sort(begin, end);
      auto const part = items_in(memory_, begin, end);
      std::size_t const left =
          equals == equal_items::kept
              ? part.size()
              : reduce_sorted(family, std::as_writable_bytes(part)) / sizeof(item);
      views[p] = typed_view<item>(part.first(left));
    });
    return views;
  }

  buffer memory_;
  std::size_t capacity_;
  std::size_t count_ = 0;
};

/// Sorts users' numbers where they lie, by all threads. @pre they are aligned as such.
template <typename T>
void sort_numbers(typed_items<T, std::less<>> const& family, std::span<std::byte> items,
                  executor& threads) {
  std::span<T> const all(reinterpret_cast<T*>(items.data()), items.size() / sizeof(T));
  if (family.in_order(all, false)) return;
  if (family.in_order(all, true))
    std::ranges::reverse(all);
  else
    parallel_sort(all, family.bits(), threads);
}

}  // namespace outsize::detail
