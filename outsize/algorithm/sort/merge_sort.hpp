// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sorting small items under any order: a stable merge sort whose merges do not jump.
//
// Halves are sorted one after the other, so that all levels but the last ones work in cache. Four
// items are sorted by five comparisons; short halves are merged from both ends at once, long ones
// in lanes (two_way_merge.hpp). Items that are in order already cost one comparison for each merge.
// One thread. Layer: algorithm. Source: Knuth: The Art of Computer Programming 3, sections 5.2.4
// and 5.3.1.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include <outsize/algorithm/sort/two_way_merge.hpp>
#include <outsize/base/assert.hpp>

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
  static constexpr std::size_t short_half = 64;

  /// Sorts `n` items of `items` into `other`, or leaves them where they are and uses it.
  void sort(T* items, T* other, std::size_t n, bool into_other) const {
    if (n <= 4) {
      n == 4 ? sort_four(items) : sort_few(items, n);
      if (into_other) copy(items, n, other);
      return;
    }
    std::size_t const left = std::bit_floor(n - 1);
    sort(items, other, left, !into_other);
    sort(items + left, other + left, n - left, !into_other);
    if (into_other) {
      merge(items, left, n, other);
    } else {
      merge(other, left, n, items);
    }
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

  /// Two sorted pairs, then the least and the greatest of all, then the two between.
  void sort_four(T* items) const {
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
    copy(sorted.data(), 4, items);
  }

  /// Merges the first `left` of `n` items with the others.
  void merge(T const* items, std::size_t left, std::size_t n, T* to) const {
    if (!less_(items[left], items[left - 1])) {
      copy(items, n, to);
    } else if (n == 2 * left && left <= short_half) {
      merge_halves(items, left, to);
    } else {
      merge_two_ways(std::span(items, left), std::span(items + left, n - left), to, less_);
    }
  }

  /// From both ends at once: so many steps from each end as one half has items, so that none runs
  /// out.
  void merge_halves(T const* items, std::size_t half, T* to) const {
    T const *a = items, *b = items + half;
    T const *a_last = b - 1, *b_last = b + half - 1;
    T *front = to, *back = to + 2 * half - 1;
    for (std::size_t i = 0; i < half; ++i) {
      std::size_t const from_b = as_number(less_(*b, *a));
      *front++ = *selected(from_b, a, b);
      b += from_b;
      a += 1 - from_b;
      std::size_t const from_a = as_number(less_(*b_last, *a_last));
      *back-- = *selected(from_a, b_last, a_last);
      a_last -= from_a;
      b_last -= 1 - from_a;
    }
  }

  Less const& less_;
};

}  // namespace outsize::detail
