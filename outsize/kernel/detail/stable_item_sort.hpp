// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A stable sort of items in memory by comparisons, whatever their type asks of addresses: memory
// that libraries take for their sorts suits only what operator new suits. Layer: kernel.

#include <boost/sort/flat_stable_sort/flat_stable_sort.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <span>

namespace outsize::detail {

/// Sorts items where they lie; one thread, O(N log N) comparisons, little further memory. If `less`
/// throws, they are all there, in any order.
template <typename T, typename Less>
void stable_item_sort(std::span<T> items, Less const& less) {
  if (items.size() < 2) return;  // which that library does not expect
  if constexpr (alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
    boost::sort::flat_stable_sort(items.begin(), items.end(), less);
  } else {
    struct [[gnu::may_alias]] unaligned {
      std::array<std::byte, sizeof(T)> bytes;
    };
    auto* const first = reinterpret_cast<unaligned*>(items.data());
    boost::sort::flat_stable_sort(first, first + items.size(),
                                  [&](unaligned const& a, unaligned const& b) {
                                    return less(std::bit_cast<T>(a), std::bit_cast<T>(b));
                                  });
  }
}

}  // namespace outsize::detail
