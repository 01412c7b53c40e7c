// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Flows: graphs as they are written, operator behind operator.
//
//     run(store, from(edges) | transform(canonical) | sort() | unique() | into(clean));
//
//   flow<Expr>       its items come out of an expression, and can go into a further operator
//   port<T>          of a graph: an output of fork or route, or of a sort behind one; a handle
//   closed_flow<R>   it ends in a sink, and can be run; it yields an R
//
// Nothing runs before run(): to write a flow opens no file, takes no memory and starts no thread.
// Where a sort or a boundary between two threads cuts a flow, the expression before it becomes a
// segment (detail/segment.hpp), and another expression begins behind it. A flow is used once, so it
// is moved. One thread at a time. Layer: stream.

#include <concepts>
#include <memory>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/detail/fragment.hpp>
#include <outsize/stream/detail/typed_ports.hpp>
#include <outsize/stream/element_stream.hpp>

namespace outsize::stream {

/// A flow whose items go on to the next operator.
/// @tparam in_graph  Whether it begins at a port of a graph.
template <typename Expr, bool in_graph = false>
class [[nodiscard]] flow {
 public:
  using item = stream_item_t<Expr>;

  explicit flow(Expr expression, detail::fragment before = {})
      : expression_(std::move(expression)), before_(std::move(before)) {}
  flow(flow&&) noexcept = default;
  flow& operator=(flow&&) noexcept = default;

  // For operators.
  Expr take_expression() { return std::move(expression_); }
  detail::fragment take_fragment() { return std::move(before_); }

 private:
  Expr expression_;
  detail::fragment before_;
};

/// A flow that ends in a sink, and yields a value of type R, or nothing.
template <typename R = void>
class [[nodiscard]] closed_flow {
 public:
  closed_flow(detail::fragment all, std::shared_ptr<std::optional<R>> result)
      : all_(std::move(all)), result_(std::move(result)) {}

  detail::fragment take_fragment() { return std::move(all_); }
  std::shared_ptr<std::optional<R>> result() const noexcept { return result_; }

 private:
  detail::fragment all_;
  std::shared_ptr<std::optional<R>> result_;
};
template <>
class [[nodiscard]] closed_flow<void> {
 public:
  explicit closed_flow(detail::fragment all) : all_(std::move(all)) {}

  detail::fragment take_fragment() { return std::move(all_); }

 private:
  detail::fragment all_;
};

/// A place in a graph where items of type T come out; made by graph::fork and its like, and by
/// sorts behind one. Copies are handles to the same place, which can be used once. The graph must
/// outlive it.
template <flowing_item T>
class port {
 public:
  using item = stored_form_t<T>;

  port(std::shared_ptr<detail::boundary_of<item>> from, detail::graph_state* of)
      : from_(std::move(from)), graph_(of) {}

  /// Returns the flow that begins here. @throws plan_error if the port has been used.
  flow<detail::port_source<item>, true> begin_flow() const {
    detail::use_port(*from_);
    return flow<detail::port_source<item>, true>(detail::port_source<item>(from_),
                                                 detail::fragment(graph_));
  }

 private:
  std::shared_ptr<detail::boundary_of<item>> from_;
  detail::graph_state* graph_;
};

namespace detail {

template <typename F>
inline constexpr bool is_flow = false;
template <typename E, bool in_graph>
inline constexpr bool is_flow<flow<E, in_graph>> = true;
template <typename F>
inline constexpr bool is_port = false;
template <typename T>
inline constexpr bool is_port<port<T>> = true;

/// A flow, or a port, which can become one.
template <typename F>
concept flow_like = is_flow<std::remove_cvref_t<F>> || is_port<std::remove_cvref_t<F>>;

template <flow_like F>
auto as_flow(F&& f) {
  if constexpr (is_port<std::remove_cvref_t<F>>) {
    return f.begin_flow();
  } else {
    static_assert(!std::is_lvalue_reference_v<F>,
                  "outsize: a flow is used once: write std::move(flow)");
    return std::forward<F>(f);
  }
}

/// Whether flows that are joined begin in a graph.
template <typename F>
inline constexpr bool begins_in_graph = is_port<F>;
template <typename E, bool in_graph>
inline constexpr bool begins_in_graph<flow<E, in_graph>> = in_graph;

/// Continues behind a boundary: in a graph with a port, else with a new flow.
template <typename T, bool in_graph>
auto continue_behind(std::shared_ptr<boundary_of<T>> b, fragment before) {
  using item = stored_form_t<T>;
  if constexpr (in_graph) {
    graph_state* const graph = before.graph();
    add_to_graph(std::move(before));
    return port<item>(std::move(b), graph);
  } else {
    return flow(port_source<item>(std::move(b)), std::move(before));
  }
}

/// One operator behind another.
template <typename First, typename Second>
struct composed_closure : operator_tag {
  composed_closure(First f, Second s) : first(std::move(f)), second(std::move(s)) {}

  template <typename Expr, bool in_graph>
  auto operator()(flow<Expr, in_graph> in) {
    return second(as_flow(first(std::move(in))));
  }

  First first;
  Second second;
};

/// An operator that only changes the expression.
template <typename Make>
struct expression_closure : operator_tag {
  explicit expression_closure(Make m) : make(std::move(m)) {}

  template <typename Expr, bool in_graph>
  auto operator()(flow<Expr, in_graph> in) {
    auto before = in.take_fragment();
    auto expression = make(in.take_expression());
    return flow<decltype(expression), in_graph>(std::move(expression), std::move(before));
  }

  Make make;
};

/// A sink that yields nothing: `make` makes one for items of the type that comes.
template <typename Make>
struct sink_closure : operator_tag {
  explicit sink_closure(Make m) : make(std::move(m)) {}

  template <typename Expr, bool in_graph>
  closed_flow<> operator()(flow<Expr, in_graph> in) {
    auto all = in.take_fragment();
    all.add(make_segment(in.take_expression(), make.template operator()<stream_item_t<Expr>>()));
    return closed_flow<>(std::move(all));
  }

  Make make;
};

}  // namespace detail

/// Puts an operator behind a flow.
template <detail::flow_like F, detail::operator_closure C>
auto operator|(F&& in, C closure) {
  return closure(detail::as_flow(std::forward<F>(in)));
}

/// Puts an operator behind another. Both are one operator then, `auto clean = transform(f) |
/// filter(p)`, which can be used any number of times.
template <detail::operator_closure First, detail::operator_closure Second>
auto operator|(First first, Second second) {
  return detail::composed_closure<First, Second>(std::move(first), std::move(second));
}

}  // namespace outsize::stream
