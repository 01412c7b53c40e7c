// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// via(…), make(…): nodes of the user's own, any class with the protocol of streams.
//
//     template <typename In>
//     class every_second {
//      public:
//       explicit every_second(In& in);
//       bool empty();  auto operator*();  every_second& operator++();
//       …
//     };
//     from(v) | via<every_second>() | …
//     make<merger>(a, b, std::less<>()) | …       // merger(In1& in1, In2& in2, Less less)
//     from(v) | via([&](auto& in) { return every_second(in); }) | …
//
// Invariant: a node is constructed on the thread that reads it, when its phase begins, and
// destroyed there. The streams before it have been begun then, so that its constructor may read
// them; they stay where they are. One thread at a time. Layer: stream.

#include <cstddef>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>
#include <outsize/stream/operators/zip.hpp>

namespace outsize::stream {
namespace detail {

/// A node of the user's own as a part of an expression.
template <typename Make, typename... Ins>
class hosted : public joined<Ins...> {
  using node = std::remove_cvref_t<std::invoke_result_t<Make&, Ins&...>>;
  static_assert(element_stream<node>,
                "outsize: a node needs empty(), operator* and operator++, as streams have");

 public:
  using value_type = stream_item_t<node>;

  hosted(char const* name, Make make, Ins... ins)
      : joined<Ins...>(std::move(ins)...), name_(name), make_(std::move(make)) {}

  bool empty() { return node_->empty(); }
  decltype(auto) operator*() { return **node_; }
  hosted& operator++() {
    ++*node_;
    return *this;
  }
  auto pull()
    requires batch_stream<node>
  {
    return node_->pull();
  }
  void skip(std::size_t count)
    requires batch_stream<node>
  {
    node_->skip(count);
  }
  template <typename Out>
  bool drain(Out&& out) {
    return detail::drain(*node_, out);
  }

  void begin(segment_context& c) {
    joined<Ins...>::begin(c);
    // Constructs the node where it stays: it need not be movable.
    node_.reset(std::apply([this](auto&... in) { return new node(std::invoke(make_, in...)); },
                           this->ins_));
  }
  item_count size() const { return {}; }
  void describe(description& d) const { this->describe_as(d, name_); }

 private:
  char const* name_;
  Make make_;
  std::unique_ptr<node> node_;
};

/// Makes a node of class template `Node` of streams and of arguments that are kept until then.
template <template <typename...> typename Node, typename... Arguments>
auto node_maker(Arguments&&... arguments) {
  return [kept = std::tuple<std::decay_t<Arguments>...>(std::forward<Arguments>(arguments)...)](
             auto&... ins) mutable {
    return std::apply([&](auto&... each) { return Node(ins..., std::move(each)...); }, kept);
  };
}

template <typename Make>
auto via_closure(Make make) {
  return expression_closure([make = std::move(make)]<typename Expr>(Expr in) mutable {
    return hosted<Make, Expr>("via", std::move(make), std::move(in));
  });
}

template <typename Make, typename... Flows>
auto host_flows(Make make, Flows&&... flows) {
  return join_flows(
      [&make]<typename... E>(E... e) {
        return hosted<Make, E...>("make", std::move(make), std::move(e)...);
      },
      as_flow(std::forward<Flows>(flows))...);
}

/// How many of the arguments are flows, which come first.
template <typename... Arguments>
inline constexpr std::size_t input_count = (std::size_t{flow_like<Arguments>} + ... + 0);

}  // namespace detail

/// Puts the node `make(in)` behind a flow: `make` is called once, when the phase begins, with the
/// stream of the flow's items, and returns a stream. An exception that it throws ends the run.
/// Checked: via_test.cpp.
template <typename Make>
auto via(Make make) {
  return detail::via_closure(std::move(make));
}
/// Puts the node `Node(in, arguments…)` behind a flow: `via<every_nth>(3)`. Arguments are copied,
/// and moved into the node; std::ref passes a reference.
/// Checked: via_test.cpp.
template <template <typename...> typename Node, typename... Arguments>
auto via(Arguments&&... arguments) {
  return detail::via_closure(detail::node_maker<Node>(std::forward<Arguments>(arguments)...));
}

/// Begins a flow with the node `make(in…)` of several flows:
/// `make([](auto& a, auto& b) { return merger(a, b); }, flow_a, flow_b)`. Otherwise as via().
/// Checked: via_test.cpp.
template <typename Make, detail::flow_like... Flows>
  requires(!detail::flow_like<Make> && sizeof...(Flows) >= 1)
auto make(Make make, Flows&&... flows) {
  return detail::host_flows(std::move(make), std::forward<Flows>(flows)...);
}
/// Begins a flow with the node `Node(in…, arguments…)` of the flows that come first among the
/// arguments: `make<merger>(flow_a, flow_b, std::less<>())`.
/// Checked: via_test.cpp.
template <template <typename...> typename Node, typename... Arguments>
  requires(detail::input_count<Arguments...> >= 1)
auto make(Arguments&&... arguments) {
  constexpr std::size_t inputs = detail::input_count<Arguments...>;
  auto all = std::forward_as_tuple(std::forward<Arguments>(arguments)...);
  return [&]<std::size_t... i, std::size_t... j>(std::index_sequence<i...>,
                                                 std::index_sequence<j...>) {
    return detail::host_flows(detail::node_maker<Node>(std::get<inputs + j>(std::move(all))...),
                              std::get<i>(std::move(all))...);
  }(std::make_index_sequence<inputs>(), std::make_index_sequence<sizeof...(Arguments) - inputs>());
}

}  // namespace outsize::stream
