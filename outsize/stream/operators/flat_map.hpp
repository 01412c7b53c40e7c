// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// flat_map(f): f makes a range of each item, and the items of these ranges follow one another.
//
//     lines("log") | flat_map(words)        // words(line) is a range of views of the line
//
// Invariant: an item is held as long as its range is read, so the range may refer to it. One thread
// at a time. Layer: stream.

#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/flow.hpp>
#include <outsize/stream/operators/transform_items.hpp>

namespace outsize::stream {
namespace detail {

template <typename In, typename F>
class flattened : public unary<In> {
  using item = decltype(*std::declval<In&>());
  using range =
      decltype(call(std::declval<F&>(), std::declval<std::add_lvalue_reference_t<item>>()));
  static_assert(std::ranges::input_range<range>, "outsize: flat_map(f): f must return a range");
  using plain_range = std::remove_reference_t<range>;
  using part = std::ranges::range_reference_t<plain_range>;

 public:
  using value_type = std::ranges::range_value_t<plain_range>;

  flattened(In in, F f) : unary<In>(std::move(in)), f_(std::move(f)) {}

  bool empty() {
    while (!at_ || *at_ == std::ranges::end(*parts_)) {
      if (at_) next_range();
      if (this->in_.empty()) return true;
      begin_range();
    }
    return false;
  }
  auto& operator*() {
    return part_.get([this]() -> decltype(auto) { return **at_; });
  }
  flattened& operator++() {
    part_.forget();
    ++*at_;
    return *this;
  }
  template <typename Out>
  bool drain(Out&& out) {
    return detail::drain(this->in_, [this, &out](auto&& one) -> emitted_t<Out, part> {
      auto&& parts = call(f_, one);
      for (auto&& each : parts)
        if (!emit(out, std::forward<decltype(each)>(each)))
          return static_cast<emitted_t<Out, part>>(false);
      return static_cast<emitted_t<Out, part>>(true);
    });
  }

  item_count size() const { return {}; }
  void describe(description& d) const { this->describe_as(d, "flat_map"); }

 private:
  void begin_range() {
    auto& one = item_.get([this]() -> decltype(auto) { return *this->in_; });
    parts_ = &range_.get([&]() -> decltype(auto) { return call(f_, one); });
    at_.emplace(std::ranges::begin(*parts_));
  }
  void next_range() {
    at_.reset();
    range_.forget();
    item_.forget();
    ++this->in_;
  }

  F f_;
  computed<item> item_;    // if it lies nowhere else
  computed<range> range_;  // of the item
  plain_range* parts_ = nullptr;
  std::optional<std::ranges::iterator_t<plain_range>> at_;
  computed<part> part_;
};

}  // namespace detail

/// Yields the items of the range `f(item)`, for each item one after the other: containers, views,
/// spans. `f` is called once for each item, in order. The range may refer to its item.
/// Checked: flat_map_test.cpp.
template <typename F>
auto flat_map(F f) {
  return detail::expression_closure([f = std::move(f)]<typename Expr>(Expr in) mutable {
    return detail::flattened<Expr, F>(std::move(in), std::move(f));
  });
}

}  // namespace outsize::stream
