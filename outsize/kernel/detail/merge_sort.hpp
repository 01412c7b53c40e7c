// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sorting small items under any order: a stable merge sort whose merges do not jump.
//
// Halves are sorted one after the other, so that all levels but the last ones work in cache. Four
// items are sorted by five comparisons. A power of two of them are merged from both ends at once,
// and two merges at a time, as one step of a merge waits for the one before it:
//
//   from:  | a → ← | b → ← | c → ← | d → ← |      four steps that do not wait for each other
//   to:    | ab →        ← | cd →        ← |
//
// Other lengths end in one half that is shorter: merged in lanes (two_way_merge.hpp). Items that
// are in order already cost one comparison for each merge. One thread. Layer: kernel. Source:
// Knuth: The Art of Computer Programming 3, sections 5.2.4 and 5.3.1.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/detail/without_jump.hpp>
#include <outsize/kernel/detail/two_way_merge.hpp>

namespace outsize::detail {

/// @tparam T     external_item.
/// @tparam Less  Strict weak order.
template <typename T, typename Less>
class merge_sort {
 public:
  explicit merge_sort(Less const& less) : less_(less) {}

  /// Sorts `items` into `to`, which is as long and does not overlap; what `items` held is lost.
  void sort_into(std::span<T> items, std::span<T> to) const {
    OUTSIZE_ASSERT(items.size() == to.size());
    if (items.empty()) return;  // perhaps no memory at all
    sort(items.data(), to.data(), items.size(), true);
  }

 private:
  static constexpr std::size_t short_half = 64;  // not worth a cut

  /// Sorts `n` items of `items` into `other`, or leaves them where they are and uses it.
  void sort(T* items, T* other, std::size_t n, bool into_other) const {
    if (n < 4) {
      sort_few(items, n);
      if (into_other) copy(items, n, other);
      return;
    }
    if (n == 4) return sort_four(items, into_other ? other : items);
    std::size_t const left = std::bit_floor(n - 1);
    if (n == 2 * left) {
      sort_halves(items, other, left, !into_other);
    } else {
      sort(items, other, left, !into_other);
      sort(items + left, other + left, n - left, !into_other);
    }
    into_other ? merge(items, left, n, other) : merge(other, left, n, items);
  }

  /// Sorts so many items, a power of two, and as many behind them, as sort() does.
  void sort_halves(T* items, T* other, std::size_t half, bool into_other) const {
    if (half == 4) {
      T* const to = into_other ? other : items;
      sort_four(items, to);
      sort_four(items + 4, to + 4);
      return;
    }
    sort_halves(items, other, half / 2, !into_other);
    sort_halves(items + half, other + half, half / 2, !into_other);
    into_other ? merge_pairs(items, half / 2, other) : merge_pairs(other, half / 2, items);
  }

  static void copy(T const* from, std::size_t n, T* to) {
    std::memcpy(static_cast<void*>(to), from, n * sizeof(T));
  }

  void sort_few(T* items, std::size_t n) const {
    for (std::size_t i = 1; i < n; ++i) {
      T const item = items[i];
      std::size_t j = i;
      for (; j > 0 && less_(item, items[j - 1]); --j) items[j] = items[j - 1];
      items[j] = item;
    }
  }

  /// Into `to`, which may be `items`: two sorted pairs, then the least and the greatest of all,
  /// then the two between.
  void sort_four(T const* items, T* to) const {
    std::size_t const first = as_number(less_(items[1], items[0]));
    std::size_t const second = as_number(less_(items[3], items[2]));
    T const* const a = items + first;
    T const* const b = items + (1 - first);
    T const* const c = items + 2 + second;
    T const* const d = items + 3 - second;
    std::size_t const c_least = as_number(less_(*c, *a));
    std::size_t const b_greatest = as_number(less_(*d, *b));
    T const* const least = selected(c_least, a, c);
    T const* const greatest = selected(b_greatest, d, b);
    T const* const one = selected(c_least, selected(b_greatest, b, c), a);
    T const* const other = selected(b_greatest, selected(c_least, c, b), d);
    std::size_t const swapped = as_number(less_(*other, *one));
    std::array<T, 4> const sorted{*least, *selected(swapped, one, other),
                                  *selected(swapped, other, one), *greatest};
    copy(sorted.data(), 4, to);
  }

  bool are_in_order(T const* items, std::size_t left) const {
    return !less_(items[left], items[left - 1]);
  }

  /// Merges the first `left` of `n` items with the others.
  void merge(T const* items, std::size_t left, std::size_t n, T* to) const {
    if (are_in_order(items, left)) return copy(items, n, to);
    if (n == 2 * left && left <= short_half) {
      auto lane = lane_of_pair(items, left, to);
      for (std::size_t i = 0; i < left; ++i) lane.step(less_);
      if (lane.is_done()) return;  // unless the order is none
    }
    merge_two_ways(std::span(items, left), std::span(items + left, n - left), to, less_);
  }

  /// Merges the first two of four sequences of so many items, and the other two.
  void merge_pairs(T const* items, std::size_t length, T* to) const {
    std::size_t const n = 2 * length;
    if (are_in_order(items, length) && are_in_order(items + n, length))
      return copy(items, 2 * n, to);
    auto one = lane_of_pair(items, length, to), other = lane_of_pair(items + n, length, to + n);
    for (std::size_t i = 0; i < length; ++i) {
      one.step(less_);
      other.step(less_);
    }
    if (one.is_done() && other.is_done()) return;  // unless the order is none
    merge(items, length, n, to);
    merge(items + n, length, n, to + n);
  }

  /// So many steps of it are safe, and are all.
  static merge_lane<T, Less> lane_of_pair(T const* items, std::size_t length, T* to) {
    return {{items, length}, {items + length, length}, to};
  }

  Less const& less_;
};

}  // namespace outsize::detail
