// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// zip(a, b, …), concat(a, b, …): several flows become one, item by item or end to end.
//
// Invariant: a flow is read after the flows before it: zip() asks for the items of a round in the
// order of the flows. One thread at a time. Layer: stream.

#include <concepts>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/flow.hpp>

namespace outsize::stream {
namespace detail {

/// The members of an operator with several streams before it.
template <typename... Ins>
class joined {
 public:
  explicit joined(Ins... ins) : ins_(std::move(ins)...) {}

  void begin(segment_context& c) {
    std::apply([&](auto&... in) { (in.begin(c), ...); }, ins_);
  }

 protected:
  void describe_as(description& d, char const* name) const {
    std::apply([&](auto const&... in) { (in.describe(d), ...); }, ins_);
    d.operators.emplace_back(name);
  }

  std::tuple<Ins...> ins_;
};

template <typename... Ins>
class zipped : public joined<Ins...> {
 public:
  using value_type = std::tuple<stream_item_t<Ins>...>;
  using joined<Ins...>::joined;

  bool empty() {
    return std::apply([](auto&... in) { return (in.empty() || ...); }, this->ins_);
  }
  auto operator*() {
    return std::apply([](auto&... in) { return std::tuple<decltype(*in)...>(*in...); }, this->ins_);
  }
  zipped& operator++() {
    std::apply([](auto&... in) { (++in, ...); }, this->ins_);
    return *this;
  }

  item_count size() const {
    return std::apply(
        [](auto const& first, auto const&... more) {
          item_count n = first.size();
          ((n = shorter(n, more.size())), ...);
          return n;
        },
        this->ins_);
  }
  void describe(description& d) const { this->describe_as(d, "zip"); }
};

/// True if a string that one of several streams yields by value could become a view.
template <typename... Items>
inline constexpr bool has_string_value =
    (std::same_as<Items, std::string> || ...) && !(std::same_as<Items, std::string> && ...);

/// How items of one of several streams are yielded: by reference if all lie somewhere.
template <typename... Items>
struct any_item {
  using type = std::common_type_t<Items...>;
};
template <typename... Items>
  requires(!has_string_value<Items...> && requires { typename std::common_reference_t<Items...>; })
struct any_item<Items...> {
  using type = std::common_reference_t<Items...>;
};
template <typename... Items>
  requires has_string_value<Items...>
struct any_item<Items...> {
  using type = std::string;
};

template <typename... Ins>
class concatenated : public joined<Ins...> {
  using item = typename any_item<decltype(*std::declval<Ins&>())...>::type;

 public:
  using value_type = std::remove_cvref_t<item>;
  using joined<Ins...>::joined;

  bool empty() { return find<0>(); }
  item operator*() {
    return at([](auto& in) -> item { return static_cast<item>(*in); });
  }
  concatenated& operator++() {
    at([](auto& in) { ++in; });
    return *this;
  }
  template <typename Out>
  bool drain(Out&& out) {
    return std::apply([&](auto&... in) { return (drain_one(in, out) && ...); }, this->ins_);
  }

  item_count size() const {
    return std::apply([](auto const&... in) { return (in.size() + ...); }, this->ins_);
  }
  void describe(description& d) const { this->describe_as(d, "concat"); }

 private:
  /// Goes on to the first stream that is not empty. Returns whether all are.
  template <std::size_t i>
  bool find() {
    if constexpr (i == sizeof...(Ins)) {
      return true;
    } else {
      if (now_ == i) {
        if (!std::get<i>(this->ins_).empty()) return false;
        ++now_;
      }
      return find<i + 1>();
    }
  }
  /// Uses the stream that has the current item.
  template <std::size_t i = 0, typename Use>
  decltype(auto) at(Use const& use) {
    if constexpr (i + 1 < sizeof...(Ins)) {
      if (now_ != i) return at<i + 1>(use);
    }
    return use(std::get<i>(this->ins_));
  }
  template <typename In, typename Out>
  static bool drain_one(In& in, Out& out) {
    if constexpr (std::same_as<stream_item_t<In>, value_type>) {
      return detail::drain(in, out);
    } else {
      return detail::drain(in, [&out](auto&& one) -> decltype(auto) {
        return out(static_cast<value_type>(std::forward<decltype(one)>(one)));
      });
    }
  }

  std::size_t now_ = 0;  // the stream that has the current item
};

/// Makes one flow of several: `make` makes an expression of their expressions.
template <typename Make, typename... Flows>
auto join_flows(Make make, Flows... flows) {
  fragment before;
  (before.join(flows.take_fragment()), ...);
  auto expression = make(flows.take_expression()...);
  constexpr bool in_graph = (begins_in_graph<Flows> || ...);
  return flow<decltype(expression), in_graph>(std::move(expression), std::move(before));
}

}  // namespace detail

/// Joins flows item by item, as tuples of the items of each, until one of the flows ends:
/// `zip(a, b) | transform([](A const& x, B const& y) { … })`.
/// Checked: zip_test.cpp.
template <detail::flow_like... Flows>
  requires(sizeof...(Flows) >= 2)
auto zip(Flows&&... flows) {
  return detail::join_flows(
      []<typename... E>(E... e) { return detail::zipped<E...>(std::move(e)...); },
      detail::as_flow(std::forward<Flows>(flows))...);
}

/// Joins flows end to end: all items of the first, then those of the next. Items of different types
/// become items of their common type.
/// Checked: zip_test.cpp.
template <detail::flow_like... Flows>
  requires(sizeof...(Flows) >= 2)
auto concat(Flows&&... flows) {
  return detail::join_flows(
      []<typename... E>(E... e) { return detail::concatenated<E...>(std::move(e)...); },
      detail::as_flow(std::forward<Flows>(flows))...);
}

}  // namespace outsize::stream
