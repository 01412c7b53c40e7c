// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// transform(f), choose(members…): a value for each item. For the items of several flows:
// zip(a, b) | transform(f).
//
// Invariant: f is called once for each item. One thread at a time. Layer: stream.

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/flow.hpp>

namespace outsize::stream {
namespace detail {

template <typename Item>
concept tuple_like = requires { std::tuple_size<std::remove_cvref_t<Item>>::value; };

/// Calls f with an item, or with the parts of a tuple if it does not take the tuple.
template <typename F, typename Item>
decltype(auto) call(F& f, Item&& item) {
  if constexpr (std::is_invocable_v<F&, Item>) {
    return std::invoke(f, std::forward<Item>(item));
  } else {
    static_assert(tuple_like<Item>,
                  "outsize: a function of an operator cannot be called with the "
                  "items of the flow");
    return std::apply(f, std::forward<Item>(item));
  }
}

template <typename In, typename F>
class transformed : public unary<In> {
  using yielded = decltype(*std::declval<In&>());
  using result = decltype(call(std::declval<F&>(), std::declval<yielded>()));

  static_assert(!std::is_void_v<result>,
                "outsize: transform(f): f yields nothing: inspect(f) lets the items through");

 public:
  using value_type = std::remove_cvref_t<result>;

  transformed(In in, F f) : unary<In>(std::move(in)), f_(std::move(f)) {}

  bool empty() { return this->in_.empty(); }
  auto& operator*() {
    return result_.get([this]() -> decltype(auto) {
      if constexpr (keeps_item) {
        return call(f_, std::move(item_.get([this] { return *this->in_; })));
      } else {
        return call(f_, *this->in_);
      }
    });
  }
  transformed& operator++() {
    if (!result_.is_known()) **this;  // f sees each item once, whoever looks at it
    result_.forget();
    if constexpr (keeps_item) item_.forget();
    ++this->in_;
    return *this;
  }
  template <typename Out>
  bool drain(Out&& out) {
    return detail::drain(this->in_, [this, &out](auto&& item) -> decltype(auto) {
      return out(call(f_, std::forward<decltype(item)>(item)));
    });
  }

  void describe(description& d) const { this->describe_as(d, "transform"); }

 private:
  struct nothing {};
  // A string, say, that lies nowhere is kept as long as its result, which may be a view of it.
  static constexpr bool keeps_item =
      !std::is_reference_v<yielded> && !std::is_trivially_destructible_v<yielded>;

  F f_;
  [[no_unique_address]] std::conditional_t<keeps_item, computed<yielded>, nothing> item_;
  computed<result> result_;
};

}  // namespace detail

/// Yields `f(item)` for each item; `f` may be a pointer to a member. `f` is called once for each
/// item that the stream reaches, in order, by one thread. An `f` of several arguments gets the
/// parts of tuples.
/// Checked: transform_items_test.cpp.
template <typename F>
auto transform(F f) {
  return detail::expression_closure([f = std::move(f)]<typename Expr>(Expr in) mutable {
    return detail::transformed<Expr, F>(std::move(in), std::move(f));
  });
}

/// Yields one member of each item, `choose(&edge::source)`, or several as a tuple.
/// Checked: transform_items_test.cpp.
template <typename Member, typename... Members>
auto choose(Member member, Members... members) {
  if constexpr (sizeof...(Members) == 0) {
    return transform([member](auto const& item) { return std::invoke(member, item); });
  } else {
    return transform([=](auto const& item) {
      return std::make_tuple(std::invoke(member, item), std::invoke(members, item)...);
    });
  }
}

}  // namespace outsize::stream
