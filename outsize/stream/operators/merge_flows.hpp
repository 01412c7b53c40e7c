// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// merge(a, b, …): sorted flows become one sorted flow.
//
//     run(store, merge(by(&event::time), from(monday), from(tuesday)) | into("week"));
//
// Several flows are merged by a balanced tree of merges of two, so that each item is compared
// ⌈log₂ k⌉ times. Invariant: among items that compare equal the earlier flow comes first. One
// thread at a time. Layer: stream.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>
#include <outsize/stream/operators/zip.hpp>

namespace outsize::stream {
namespace detail {

/// Returns whether `a` comes before `b` in an order: a function of two items, or an order of byte
/// strings with compare().
template <typename Order, typename A, typename B>
bool comes_before(Order& order, A const& a, B const& b) {
  if constexpr (std::is_invocable_v<Order&, A const&, B const&>) {
    return static_cast<bool>(std::invoke(order, a, b));
  } else {
    return order.compare(a, b) < 0;
  }
}

/// How an item of either of two streams is yielded.
template <typename A, typename B>
using either_item_t =
    typename any_item<decltype(*std::declval<A&>()), decltype(*std::declval<B&>())>::type;

/// Reads the rest of a stream that was pulled from. Returns whether it came to its end.
template <typename Item, typename In, typename Out>
bool pull_rest(In& in, Out& out) {
  if constexpr (batch_stream<In> && std::is_reference_v<Item>) {
    while (!in.empty()) {
      auto const batch = in.pull();
      for (auto const& item : batch)
        if (!emit(out, item)) return false;
      in.skip(batch.size());
    }
  } else {
    for (; !in.empty(); ++in)
      if (!emit(out, static_cast<Item>(*in))) return false;
  }
  return true;
}

/// Two streams before an operator.
template <typename A, typename B>
class binary {
 public:
  binary(A a, B b) : a_(std::move(a)), b_(std::move(b)) {}

  void begin(segment_context& c) {
    a_.begin(c);
    b_.begin(c);
  }

 protected:
  void describe_as(description& d, char const* name) const {
    a_.describe(d);
    b_.describe(d);
    d.operators.emplace_back(name);
  }

  A a_;
  B b_;
};

template <typename A, typename B, typename Order>
class merged : public binary<A, B> {
  using item = either_item_t<A, B>;

 public:
  using value_type = std::remove_cvref_t<item>;

  merged(A a, B b, Order order)
      : binary<A, B>(std::move(a), std::move(b)), order_(std::move(order)) {}

  bool empty() {
    if (at_ == place::unknown) find();
    return at_ == place::end;
  }
  item operator*() {
    if (at_ == place::first) return static_cast<item>(*this->a_);
    return static_cast<item>(*this->b_);
  }
  merged& operator++() {
    if (at_ == place::first)
      ++this->a_;
    else
      ++this->b_;
    at_ = place::unknown;
    return *this;
  }
  template <typename Out>
  bool drain(Out&& out) {
    auto& a = this->a_;
    auto& b = this->b_;
    bool both = !a.empty() && !b.empty();
    while (both) {
      if (comes_before(order_, *b, *a)) {
        if (!emit(out, static_cast<item>(*b))) return false;
        ++b;
        both = !b.empty();
      } else {
        if (!emit(out, static_cast<item>(*a))) return false;
        ++a;
        both = !a.empty();
      }
    }
    return pull_rest<item>(a, out) && pull_rest<item>(b, out);
  }

  item_count size() const { return this->a_.size() + this->b_.size(); }
  void describe(description& d) const { this->describe_as(d, "merge"); }

 private:
  enum class place : std::uint8_t { unknown, first, second, end };

  void find() {
    if (this->b_.empty()) {
      at_ = this->a_.empty() ? place::end : place::first;
    } else if (this->a_.empty() || comes_before(order_, *this->b_, *this->a_)) {
      at_ = place::second;
    } else {
      at_ = place::first;
    }
  }

  Order order_;
  place at_ = place::unknown;
};

/// Merges the expressions `begin` to `end` - 1 of a tuple.
template <std::size_t begin, std::size_t end, typename Ins, typename Order>
auto merge_tree(Ins& ins, Order const& order) {
  if constexpr (end - begin == 1) {
    return std::move(std::get<begin>(ins));
  } else {
    constexpr std::size_t middle = begin + (end - begin) / 2;
    auto a = merge_tree<begin, middle>(ins, order);
    auto b = merge_tree<middle, end>(ins, order);
    return merged<decltype(a), decltype(b), Order>(std::move(a), std::move(b), order);
  }
}

template <typename Order, typename... Flows>
auto merge_flows(Order order, Flows&&... flows) {
  return join_flows(
      [&order]<typename... E>(E... e) {
        std::tuple<E...> ins(std::move(e)...);
        return merge_tree<0, sizeof...(E)>(ins, order);
      },
      as_flow(std::forward<Flows>(flows))...);
}

}  // namespace detail

/// Merges sorted flows into one: `merge(a, b, c)`, or `merge(less, a, b, c)` with the order that
/// they are sorted by, a function of two items or an order of byte strings such as byte_order.
/// Items that compare equal come in the order of the flows, and within one in its order.
/// @pre each flow is sorted by that order; if not, the result is not sorted either.
///
/// CPU:     ⌈log₂ k⌉ comparisons for each item of k flows.
/// Checked: merge_flows_test.cpp.
template <typename Less, detail::flow_like First, detail::flow_like... Others>
  requires(!detail::flow_like<Less> && sizeof...(Others) > 0)
auto merge(Less less, First&& first, Others&&... others) {
  return detail::merge_flows(std::move(less), std::forward<First>(first),
                             std::forward<Others>(others)...);
}
template <detail::flow_like First, detail::flow_like... Others>
  requires(sizeof...(Others) > 0)
auto merge(First&& first, Others&&... others) {
  return detail::merge_flows(std::less<>(), std::forward<First>(first),
                             std::forward<Others>(others)...);
}

// std::merge is found by the types in a flow and takes five or six arguments of any type, so there
// are overloads of the same form with constraints.
template <detail::flow_like A, detail::flow_like B, detail::flow_like C>
auto merge(A a, A b, B c, B d, C e) {
  return detail::merge_flows(std::less<>(), std::move(a), std::move(b), std::move(c), std::move(d),
                             std::move(e));
}
template <detail::flow_like A, detail::flow_like B, detail::flow_like C, detail::flow_like D>
auto merge(A a, A b, B c, B d, C e, D f) {
  return detail::merge_flows(std::less<>(), std::move(a), std::move(b), std::move(c), std::move(d),
                             std::move(e), std::move(f));
}

}  // namespace outsize::stream
