// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// async(), parallel(op): threads of one's own choice.
//
// Layer: stream. Source: IPDPS 2009, section 3.2 (asynchronous nodes, distribute and collect).

#include <memory>
#include <source_location>
#include <utility>

#include <outsize/stream/detail/deal.hpp>
#include <outsize/stream/detail/link.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>
#include <outsize/stream/operators/sorting_nodes.hpp>

namespace outsize::stream {

/// Says that items may come in any order.
struct unordered_tag {};
inline constexpr unordered_tag unordered{};

namespace detail {

struct async_closure : operator_tag {
  explicit async_closure(std::source_location p) : place(p) {}

  template <typename Expr, bool in_graph>
  auto operator()(flow<Expr, in_graph> in) {
    using item = stored_form_t<stream_item_t<Expr>>;
    static_assert(flowing_item<item>,
                  "outsize: items that go to another thread must be external items or strings");
    auto const to = make_link<item>("async", place);
    auto before = lead_into<Expr, in_graph, item>(std::move(in), to);
    return continue_behind<item, in_graph>(to, std::move(before));
  }

  std::source_location place;
};

template <typename Op>
struct parallel_closure : operator_tag {
  parallel_closure(Op o, bool kept, std::source_location p)
      : op(std::move(o)), in_order(kept), place(p) {}

  template <typename Expr, bool in_graph>
  auto operator()(flow<Expr, in_graph> in) {
    using item = stored_form_t<stream_item_t<Expr>>;
    using made = decltype(worker_expression<item>(op, batch_source<item>()));
    using result = stored_form_t<stream_item_t<made>>;
    static_assert(flowing_item<item> && flowing_item<result>,
                  "outsize: items that go to another thread must be external items or strings");
    auto const work = make_deal<item>("deal");
    auto const done = make_deal<result>("parallel");
    auto before = in.take_fragment();
    before.add(make_segment(in.take_expression(), deal_sink<item>(work)));
    before.add(std::make_unique<worker_segment<item, Op>>(work, done, op));
    std::shared_ptr<boundary_of<result>> const out = done;
    return continue_behind<result, in_graph>(out, std::move(before));
  }

  template <typename T>
  std::shared_ptr<deal_of<T>> make_deal(char const* name) const {
    return std::make_shared<deal_of<T>>(name, place, byte_string<T> ? 0 : sizeof(T), in_order);
  }

  Op op;
  bool in_order;
  std::source_location place;
};

}  // namespace detail

/// A boundary between two threads: the parts before it and behind it run at the same time. The
/// library puts such boundaries in by itself at forks; sorts overlap anyway.
///
/// CPU:     a copy of each item. Memory: a few buffers.
/// Checked: graph_test.cpp.
inline auto async(std::source_location place = std::source_location::current()) {
  return detail::async_closure(place);
}

/// Has `op`, an operator or some behind each other, work on as many threads as the storage has:
/// items are dealt to copies of it, some at a time, and collected in the same order. `op` must only
/// scan, and look at one item at a time: each copy sees some neighbouring ones.
///
///     lines("log") | parallel(transform(parse) | filter(is_valid))
///
/// CPU:     two copies of each item. Memory: a few buffers for each thread.
/// Errors:  plan_error from `|` if `op` sorts.
/// Checked: graph_test.cpp.
template <detail::operator_closure Op>
auto parallel(Op op, std::source_location place = std::source_location::current()) {
  return detail::parallel_closure<Op>(std::move(op), true, place);
}
/// The same, but items are collected as they come: the same items in any order.
template <detail::operator_closure Op>
auto parallel(unordered_tag, Op op, std::source_location place = std::source_location::current()) {
  return detail::parallel_closure<Op>(std::move(op), false, place);
}

}  // namespace outsize::stream
