// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Algorithms that move all items of a range to known places: reverse, rotate, swap_ranges. They
// exchange pieces of pages, two pages at a time. for_each.hpp says what they cost and throw.
// Layer: scan.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include <outsize/scan/detail/walk.hpp>
#include <outsize/scan/find.hpp>
#include <outsize/scan/policy.hpp>

namespace outsize {
namespace detail {

struct reverse_call {
  template <typename Policy, changeable_place I>
  void operator()(Policy policy, I first, I last) const {
    auto& items = paged_access::items(first);
    auto& team = items.row().store().threads();
    std::uint64_t begin = paged_access::position(first), end = paged_access::position(last);
    std::uint64_t const page_items = items.page_items();
    while (end - begin > 1) {
      std::uint64_t const page = (end - 1) / page_items;
      std::uint64_t const back_begin = std::max(begin, page * page_items);
      auto const front = items.changing(begin);
      if (begin / page_items == page) {
        std::reverse(front.begin(), front.begin() + static_cast<std::ptrdiff_t>(end - begin));
        return;
      }
      auto const back = items.changing(back_begin).first(end - back_begin);
      std::size_t const count = std::min(front.size(), back.size());
      in_parts(policy, team, count, [&](std::size_t from, std::size_t to, std::size_t) {
        for (std::size_t i = from; i < to; ++i) std::swap(front[i], back[back.size() - 1 - i]);
      });
      begin += count;
      end -= count;
    }
  }
};

struct swap_ranges_call {
  template <typename Policy, changeable_place I, changeable_place J>
  J operator()(Policy policy, I first, I last, J other) const {
    std::uint64_t const count = count_between(first, last);
    auto a = changer_at(policy, first);
    auto b = changer_at(policy, other);
    auto const visit = [](slice part, auto* x, auto* y) { std::swap_ranges(x, x + part.count, y); };
    walk_all(policy, count, visit, a, b);
    return advanced(other, count);
  }
};

struct rotate_call {
  template <typename Policy, changeable_place I>
  I operator()(Policy policy, I first, I middle, I last) const {
    if (first == middle) return last;
    if (middle == last) return first;
    reverse_call const reverse;
    reverse(policy, first, middle);
    reverse(policy, middle, last);
    reverse(policy, first, last);
    return first + (last - middle);
  }
};

}  // namespace detail

/// Turns the order of the items round. I/Os: ⌈N/B⌉ + 1 reads and as many writes. Also with par.
/// Checked: permute_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto reverse(Arguments&&... arguments) {
  return detail::scan<detail::reverse_call>(arguments...);
}

/// Puts the items of [middle, last) in front of those of [first, middle), and returns where the
/// latter begin then; of whole containers rotate(v.begin(), middle, v.end()). By three reversals.
/// I/Os: 2·⌈N/B⌉ + 3 reads and as many writes. Also with par. Checked: permute_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto rotate(Arguments&&... arguments) {
  return detail::scan<detail::rotate_call>(arguments...);
}

/// Exchanges the items of a range with those behind `other`, of a container too; ranges do not
/// overlap. Returns the end of the latter. I/Os: ⌈N/B⌉ + 1 reads of each, and as many writes. Also
/// with par. Checked: permute_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto swap_ranges(Arguments&&... arguments) {
  return detail::scan<detail::swap_ranges_call>(arguments...);
}

}  // namespace outsize
