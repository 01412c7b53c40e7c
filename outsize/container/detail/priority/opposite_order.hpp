// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The opposite of an order, in a form that sorts know: std::priority_queue yields the greatest item
// first, sorts the least.
//
// Pure functions. Layer: container.

#include <cstdint>
#include <functional>
#include <utility>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/kernel/detail/word_sort.hpp>

namespace outsize::detail {

/// Orders a before b if Less orders b before a.
template <typename Less>
struct opposite_order {
  [[no_unique_address]] Less less;

  template <typename T>
  bool operator()(T const& a, T const& b) const {
    return less(b, a);
  }
  template <typename T>
    requires word_order<Less, T>
  std::uint64_t word(T const& item) const {
    return ~less.word(item);
  }
};

template <typename Less>
opposite_order<Less> opposite(Less less) {
  return {std::move(less)};
}
template <typename T>
std::greater<T> opposite(std::less<T>) {
  return {};
}
template <typename T>
std::less<T> opposite(std::greater<T>) {
  return {};
}
template <typename Projection, typename Order>
auto opposite(projected_order<Projection, Order> less) {
  return by(std::move(less.projection), opposite(std::move(less.order)));
}
template <typename Less>
auto opposite(input_order<Less> less) {
  return in_input_order(opposite(std::move(less.less)));
}

template <typename Less>
using opposite_t = decltype(opposite(std::declval<Less>()));

}  // namespace outsize::detail
