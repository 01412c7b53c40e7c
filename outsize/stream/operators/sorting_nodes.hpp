// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// sort(less), sort_unique(less), reduce_by_key(less, combine): sorting nodes, which cut a graph
// into phases.
//
// Layer: stream. The boundary behind them: detail/sorting.hpp.

#include <concepts>
#include <functional>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>

#include <outsize/algorithm/detail/sort/family/combining_items.hpp>
#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/record_sorter.hpp>
#include <outsize/algorithm/sort_options.hpp>
#include <outsize/algorithm/sorter.hpp>
#include <outsize/stream/detail/link.hpp>
#include <outsize/stream/detail/sorting.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>

namespace outsize::stream {
namespace detail {

/// Ends the expression of a flow at boundary `to`. If it is an output of a fork as it is, the fork
/// writes there itself.
template <typename Expr, bool in_graph, typename T>
fragment lead_into(flow<Expr, in_graph> in, std::shared_ptr<boundary_of<T>> to) {
  using item = stored_form_t<T>;
  auto before = in.take_fragment();
  auto expression = in.take_expression();
  if constexpr (std::same_as<Expr, port_source<item>>) {
    auto const& origin = expression.origin();
    if (origin->what() == boundary_base::kind::channel && origin->is_fork_output) {
      origin->replaced_by = to;
      return before;
    }
  }
  before.add(make_segment(std::move(expression), boundary_sink<T>(to)));
  return before;
}

template <typename Less, typename Combine>
struct sort_closure : operator_tag {
  Less less;
  Combine combine;
  sort_options options;
  char const* name;
  std::source_location place;

  sort_closure(Less l, Combine c, sort_options o, char const* n, std::source_location p)
      : less(std::move(l)), combine(std::move(c)), options(std::move(o)), name(n), place(p) {}

  template <typename Expr, bool in_graph>
  auto operator()(flow<Expr, in_graph> in) {
    using item = stored_form_t<stream_item_t<Expr>>;
    if constexpr (byte_string<item>) {
      using order = std::conditional_t<std::same_as<Less, std::less<>>, byte_order, Less>;
      static_assert(record_ordering<order>,
                    "outsize: byte strings are sorted by an order with prefix(), compare() and "
                    "equal_keys(), such as byte_order");
      static_assert(std::same_as<Combine, outsize::detail::no_combining>,
                    "outsize: byte strings cannot be combined");
      order by_bytes{};
      if constexpr (std::same_as<order, Less>) by_bytes = less;
      return cut<item, in_graph>(
          std::move(in), std::make_shared<record_sorting<order>>(by_bytes, options, name, place));
    } else {
      static_assert(stored_item<item>,
                    "outsize: items that are sorted are kept as bytes: numbers, structs of plain "
                    "members, byte strings; no std::pair, std::tuple, std::string");
      static_assert(std::strict_weak_order<Less const&, item, item>,
                    "outsize: sort(less): less(a, b) must compare two items of the flow");
      return cut<item, in_graph>(
          std::move(in),
          std::make_shared<sorting<item>>(outsize::detail::combining_kind<item>(less, combine),
                                          options, name, place));
    }
  }

 private:
  template <typename T, bool in_graph, typename Flow, typename Sorting>
  static auto cut(Flow in, std::shared_ptr<Sorting> const& node) {
    std::shared_ptr<boundary_of<T>> const to = node;
    auto before = lead_into<decltype(in.take_expression()), in_graph, T>(std::move(in), to);
    return continue_behind<T, in_graph>(to, std::move(before));
  }
};

}  // namespace detail

/// Sorts the items: the part before it runs in an earlier phase than the part behind it.
/// Items that compare equal keep their order, unless by(member) of two-word items says otherwise
/// (item_order.hpp). Byte strings are sorted by a record_ordering, by default byte_order.
///
/// @param less  Copied; called from all threads of the storage at once, must not throw.
/// @param options  codec, block_bytes, most_fan_in and unique count; memory_bytes names memory,
/// which is usually left to the graph.
///
/// I/Os:    as `sorter`: none if the items fit in memory; else each is written once and read once,
///          and twice more for each further pass.
/// Memory:  its share of the storage's budget (docs/memory.md).
/// Errors:  of the run: io_error, out_of_space, budget_error.
/// Source:  STXXL 2008, section 7; IPDPS 2009, section 3.1 (sorting nodes).
/// Checked: graph_test.cpp, tests/complexity/stream_io_test.cpp.
template <typename Less = std::less<>>
auto sort(Less less = {}, sort_options options = {},
          std::source_location place = std::source_location::current()) {
  return detail::sort_closure<Less, outsize::detail::no_combining>(
      std::move(less), {}, std::move(options), "sort", place);
}

/// Sorts the items, and keeps only the first of equal ones: fewer are written than by
/// sort(less) | unique(). Otherwise as sort().
/// Checked: graph_test.cpp.
template <typename Less = std::less<>>
auto sort_unique(Less less = {}, sort_options options = {},
                 std::source_location place = std::source_location::current()) {
  options.unique = true;
  return detail::sort_closure<Less, outsize::detail::no_combining>(
      std::move(less), {}, std::move(options), "sort_unique", place);
}

/// Sorts the items, and makes one of items that compare equal, as outsize::reduce_by_key() says of
/// `less` and `combine`. Otherwise as sort().
/// Checked: graph_test.cpp.
template <typename Less, typename Combine>
auto reduce_by_key(Less less, Combine combine, sort_options options = {},
                   std::source_location place = std::source_location::current()) {
  return detail::sort_closure<Less, Combine>(std::move(less), std::move(combine),
                                             std::move(options), "reduce_by_key", place);
}

}  // namespace outsize::stream
