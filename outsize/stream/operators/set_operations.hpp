// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// set_union(a, b), set_intersection(a, b), set_difference(a, b), set_symmetric_difference(a, b):
// two sorted flows as sets in which an item may occur several times.
//
// As in the algorithms of the standard library of the same names, the n-th of equal items in one
// flow pairs with the n-th in the other. Invariant: the result is sorted, and shows the first
// flow's item of each pair. One thread at a time. Layer: stream.

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include <outsize/scan/merge_containers.hpp>
#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>
#include <outsize/stream/operators/merge_flows.hpp>
#include <outsize/stream/operators/zip.hpp>

namespace outsize::stream {
namespace detail {

using outsize::detail::wanted_items;

/// Items of the first stream alone, if no others are wanted, need not be like those of the second.
template <typename A, typename B, bool of_second>
struct set_item {
  using type = either_item_t<A, B>;
};
template <typename A, typename B>
struct set_item<A, B, false> {
  using type = decltype(*std::declval<A&>());
};

template <typename A, typename B, typename Order, wanted_items wanted>
class set_operation : public binary<A, B> {
  using item = typename set_item<A, B, wanted.of_second>::type;

 public:
  using value_type = std::remove_cvref_t<item>;

  set_operation(A a, B b, Order order, char const* name)
      : binary<A, B>(std::move(a), std::move(b)), order_(std::move(order)), name_(name) {}

  bool empty() {
    while (at_ == place::unknown) {
      at_ = find();
      if (at_ == place::end || is_wanted()) break;
      step();
    }
    return at_ == place::end;
  }
  item operator*() {
    if constexpr (wanted.of_second) {
      if (at_ == place::second) return static_cast<item>(*this->b_);
    }
    return static_cast<item>(*this->a_);
  }
  set_operation& operator++() {
    step();
    return *this;
  }

  item_count size() const {
    item_count const of_a = this->a_.size(), of_b = this->b_.size();
    if constexpr (wanted.of_second) return (of_a + of_b).part();
    return wanted.of_first ? of_a.part() : shorter(of_a, of_b).part();
  }
  void describe(description& d) const { this->describe_as(d, name_); }

 private:
  enum class place : std::uint8_t { unknown, first, second, both, end };

  /// Whose item comes next.
  place find() {
    bool const a_ended = this->a_.empty();
    if (a_ended && !wanted.of_second) return place::end;
    bool const b_ended = this->b_.empty();
    if (b_ended && (a_ended || !wanted.of_first)) return place::end;
    if (a_ended) return place::second;
    if (b_ended || comes_before(order_, *this->a_, *this->b_)) return place::first;
    return comes_before(order_, *this->b_, *this->a_) ? place::second : place::both;
  }
  bool is_wanted() const noexcept {
    return at_ == place::first    ? wanted.of_first
           : at_ == place::second ? wanted.of_second
                                  : wanted.of_both;
  }
  void step() {
    if (at_ != place::second) ++this->a_;
    if (at_ != place::first) ++this->b_;
    at_ = place::unknown;
  }

  Order order_;
  char const* name_;
  place at_ = place::unknown;
};

template <wanted_items wanted, typename A, typename B, typename Order>
auto set_flow(A&& a, B&& b, Order order, char const* name) {
  return join_flows(
      [&]<typename X, typename Y>(X x, Y y) {
        return set_operation<X, Y, Order, wanted>(std::move(x), std::move(y), order, name);
      },
      as_flow(std::forward<A>(a)), as_flow(std::forward<B>(b)));
}

}  // namespace detail

/// Yields the items that are in either of two sorted flows: an item that is m times in `a` and n
/// times in `b` comes max(m, n) times, those of `a` first.
///
/// @param less  The order that both are sorted by, as merge() takes one.
///
/// CPU:     Two comparisons for each item.
/// Checked: set_operations_test.cpp.
template <detail::flow_like A, detail::flow_like B, typename Less = std::less<>>
auto set_union(A&& a, B&& b, Less less = {}) {
  return detail::set_flow<detail::wanted_items{true, true, true}>(
      std::forward<A>(a), std::forward<B>(b), std::move(less), "set_union");
}

/// Yields the items of `a` that are in `b` too: min(m, n) times. Ends with the shorter flow. The
/// items of `b` need only be comparable with those of `a`. Otherwise as set_union().
/// Checked: set_operations_test.cpp.
template <detail::flow_like A, detail::flow_like B, typename Less = std::less<>>
auto set_intersection(A&& a, B&& b, Less less = {}) {
  return detail::set_flow<detail::wanted_items{false, false, true}>(
      std::forward<A>(a), std::forward<B>(b), std::move(less), "set_intersection");
}

/// Yields the items of `a` that are not in `b`: max(m - n, 0) times. Ends with `a`. Otherwise as
/// set_intersection().
/// Checked: set_operations_test.cpp.
template <detail::flow_like A, detail::flow_like B, typename Less = std::less<>>
auto set_difference(A&& a, B&& b, Less less = {}) {
  return detail::set_flow<detail::wanted_items{true, false, false}>(
      std::forward<A>(a), std::forward<B>(b), std::move(less), "set_difference");
}

/// Yields the items that are in one of two sorted flows, but not in the other: |m - n| times.
/// Otherwise as set_union().
/// Checked: set_operations_test.cpp.
template <detail::flow_like A, detail::flow_like B, typename Less = std::less<>>
auto set_symmetric_difference(A&& a, B&& b, Less less = {}) {
  return detail::set_flow<detail::wanted_items{true, true, false}>(
      std::forward<A>(a), std::forward<B>(b), std::move(less), "set_symmetric_difference");
}

}  // namespace outsize::stream
