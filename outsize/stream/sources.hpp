// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Where flows begin.
//
//     from(items<event>("events.bin"))    a file of items
//     from(edges)                         a container or range, which must outlive the run
//     from(std::vector{3, 1, 2})          a range that is moved into the flow
//     from(my_stream)                     anything with the protocol of streams
//     lines("log"), csv("orders.csv")     the lines of a text, the records of a CSV
//     generate(f)                         the results of f(), until one is std::nullopt
//     counter(0, n)                       numbers
//
// Files are opened when the part of the graph runs that reads them. Layer: stream.

#include <concepts>
#include <cstddef>
#include <ranges>
#include <type_traits>
#include <utility>

#include <outsize/algorithm/item_sources.hpp>
#include <outsize/stream/detail/piece_sources.hpp>
#include <outsize/stream/detail/single_sources.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>

namespace outsize::stream {

/// Begins a flow at a file of items; "-" is standard input. Errors of the run: io_error;
/// format_error if the file is not a whole number of items.
template <stored_item T>
auto from(item_file<T> file) {
  return flow(detail::file_source<T>(std::move(file.path)));
}

/// Begins a flow at a container or range. An lvalue must outlive the run and stay unchanged; else
/// the flow owns it.
template <std::ranges::input_range Range>
  requires(!element_stream<Range>)
auto from(Range&& range) {
  using range_type = std::remove_cvref_t<Range>;
  constexpr bool is_owned = !std::is_lvalue_reference_v<Range>;
  if constexpr (outsize::detail::range_in_pieces<range_type> && is_owned) {
    return flow(detail::container_source<range_type, true>(std::forward<Range>(range)));
  } else if constexpr (outsize::detail::range_in_pieces<range_type>) {
    return flow(detail::container_source<range_type, false>(&range));
  } else {
    using held = std::views::all_t<Range>;
    if constexpr (std::ranges::contiguous_range<held> && std::ranges::sized_range<held const> &&
                  external_item<std::ranges::range_value_t<held>>) {
      return flow(detail::memory_source<held>(std::views::all(std::forward<Range>(range))));
    } else {
      return flow(detail::range_source<held>(std::views::all(std::forward<Range>(range))));
    }
  }
}

/// Refuses names of files.
template <typename Char, std::size_t n>
  requires std::same_as<Char const, char const>
void from(Char (&)[n]) {
  static_assert(n == 0, "outsize: a file is from(items<T>(\"file\")) or lines(\"file\")");
}

/// Begins a flow at a stream: any object with empty(), * and ++. One that is an lvalue must outlive
/// the run; else the flow owns it.
template <element_stream S>
auto from(S&& s) {
  if constexpr (std::is_lvalue_reference_v<S>) {
    return flow(detail::stream_source([&s] { return detail::stream_handle(s); }));
  } else {
    return flow(detail::stream_source([s = std::move(s)]() mutable { return std::move(s); }));
  }
}

/// Begins a flow with the values of `f()`, which returns a std::optional: nothing at the end.
/// `f` is called by one thread.
template <typename F>
auto generate(F f) {
  return flow(detail::stream_source(
      [f = std::move(f)]() mutable { return detail::generated<F>(std::move(f)); }));
}

/// Begins a flow with the numbers `first` to `end` - 1.
template <std::integral T>
auto counter(T first, std::type_identity_t<T> end) {
  return flow(detail::numbers<T>(first, end));
}

}  // namespace outsize::stream
