// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Where flows end.
//
//     into("sorted.bin")                  a file of items, which appears when it is complete
//     into(clean)                         a container, which has these items then
//     into(std::back_inserter(some))      any output iterator
//     reduce(0, plus)                     a value, which run() returns
//     count(), discard()                  the number of items; nothing
//     materialize()                       a vector, which run() returns
//
// An output is opened when the part of the graph runs that writes it. Memory and disks are waited
// for outside of the network (context.hpp). One thread at a time uses a sink. Layer: stream. Lines
// of text: text_sinks.hpp; several files: split_sinks.hpp.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/item_writer.hpp>
#include <outsize/algorithm/item_sources.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/stream/detail/container_sinks.hpp>
#include <outsize/stream/detail/context.hpp>
#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/detail/segment.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>

namespace outsize::stream {

using outsize::into;

namespace detail {

/// Returns the length of each of the two windows through which a file is written.
std::size_t file_window_bytes(std::uint64_t memory_bytes, std::size_t item_bytes) noexcept;

/// Writes a file of items.
template <external_item T>
class file_sink : public end_sink {
 public:
  explicit file_sink(output_path out) : out_(std::move(out)) {}

  void begin(segment_context& c) {
    context_ = &c;
    std::size_t const window_bytes = file_window_bytes(c.stream_memory_bytes(), sizeof(T));
    c.outside([&] {
      memory_ = c.store().memory().take(2 * window_bytes, "output stream");
      c.hold(memory_.total_bytes());
      writer_ = std::make_unique<writer>(c.store(), memory_, out_, window_bytes,
                                         io::output_stream_options{.block_bytes = window_bytes});
    });
  }
  void push(T const& item) {
    some_[filled_++] = item;
    if (filled_ == some_items) hand_over();
  }
  void finish() {
    hand_over();
    context_->outside([this] { writer_->finish(); });
  }
  void describe(description& d) const {
    d.operators.push_back("into '" + out_.path + "'");
    d.output_files.push_back({out_.path, sizeof(T)});
    ++d.files;
  }

 private:
  using writer = outsize::detail::item_writer<T, output_path>;
  static constexpr std::size_t some_items = std::max<std::size_t>(1, (16 << 10) / sizeof(T));

  void hand_over() {
    context_->outside([this] {
      auto rest = std::as_bytes(std::span(some_.get(), std::exchange(filled_, 0)));
      while (!rest.empty()) {
        auto const room = writer_->room();
        std::size_t const items = std::min(rest.size(), room.size()) / sizeof(T);
        std::memcpy(room.data(), rest.data(), items * sizeof(T));
        writer_->used(items * sizeof(T));
        rest = rest.subspan(items * sizeof(T));
      }
    });
  }

  output_path out_;
  segment_context* context_ = nullptr;
  grant memory_;
  std::unique_ptr<writer> writer_;
  std::unique_ptr<T[]> some_ = std::make_unique_for_overwrite<T[]>(some_items);
  std::size_t filled_ = 0;
};

class discard_sink : public end_sink {
 public:
  void begin(segment_context&) {}
  template <typename T>
  void push(T const&) {}
  void finish() {}
  void describe(description& d) const { d.operators.emplace_back("discard"); }
};

/// Folds all items into a value, kept in a variable that the compiler sees.
template <typename R, typename F>
class fold_sink : public end_sink {
 public:
  fold_sink(R init, F f, std::shared_ptr<std::optional<R>> result, char const* name)
      : init_(std::move(init)), f_(std::move(f)), result_(std::move(result)), name_(name) {}

  void begin(segment_context&) {}
  template <typename Expr>
  void consume(Expr& in) {
    R value = std::move(init_);
    detail::drain(in, [&value, this](auto&& item) {
      value = std::invoke(f_, std::move(value), std::forward<decltype(item)>(item));
    });
    init_ = std::move(value);
  }
  void finish() { result_->emplace(std::move(init_)); }
  void describe(description& d) const { d.operators.emplace_back(name_); }

 private:
  R init_;
  F f_;
  std::shared_ptr<std::optional<R>> result_;
  char const* name_;
};

/// A sink that yields a value of type R, made by `make` with a place for the value, and with the
/// type of the items if it asks for that.
template <typename R, typename Make>
struct value_closure : operator_tag {
  explicit value_closure(Make m) : make(std::move(m)) {}

  template <typename Expr, bool in_graph>
  closed_flow<R> operator()(flow<Expr, in_graph> in) {
    auto all = in.take_fragment();
    auto const result = std::make_shared<std::optional<R>>();
    if constexpr (requires { make.template operator()<stream_item_t<Expr>>(result); }) {
      all.add(make_segment(in.take_expression(),
                           make.template operator()<stream_item_t<Expr>>(result)));
    } else {
      all.add(make_segment(in.take_expression(), make(result)));
    }
    return closed_flow<R>(std::move(all), result);
  }

  Make make;
};
template <typename R, typename Make>
auto make_value_closure(Make make) {
  return value_closure<R, Make>(std::move(make));
}

/// Ends a flow in a vector on the storage of the graph, which run() and graph::add() yield.
struct materialize_closure : operator_tag {
  template <typename Expr, bool in_graph>
  auto operator()(flow<Expr, in_graph> in) {
    using item = stream_item_t<Expr>;
    static_assert(external_item<item>,
                  "outsize: materialize() makes a vector, so items must be external items");
    auto all = in.take_fragment();
    auto const result = std::make_shared<std::optional<vector<item>>>();
    all.add(make_segment(in.take_expression(), materialize_sink<item>(result)));
    return closed_flow<vector<item>>(std::move(all), result);
  }
};

}  // namespace detail

/// Puts a file of items behind a flow. The file appears under its name when it is complete; until
/// then a file of that name stays as it is, even if the flow reads it.
///
/// I/Os:    Writes the items once.
/// Memory:  Two windows of a 16th of the share of one file in the storage's budget, 16 KiB to 4
///          MiB.
/// Errors:  of the run: io_error, out_of_space, budget_error.
/// Checked: sinks_test.cpp.
template <detail::flow_like F>
closed_flow<> operator|(F&& in, output_path out) {
  return detail::as_flow(std::forward<F>(in)) |
         detail::sink_closure([out = std::move(out)]<typename T>() {
           static_assert(external_item<T>,
                         "outsize: a file of items takes external items; for byte strings there is "
                         "into_lines()");
           return detail::file_sink<T>(out);
         });
}

/// Ends a flow in a vector, which must outlive the run: afterwards it has these items in place of
/// older ones. After an error it has some of them.
///
/// I/Os:    Writes the items once.
/// Errors:  of the run: as vector::push_back().
/// Checked: sinks_test.cpp.
template <stored_item T>
auto into(vector<T>& to) {
  return detail::sink_closure([&to]<typename>() { return detail::vector_sink<T>(to); });
}
/// Ends a flow in any other container with push_back(), push() or insert(), after its clear() if it
/// has one. Byte strings are added as strings. The container must outlive the run.
/// Checked: sinks_test.cpp.
template <typename C>
  requires(!std::input_or_output_iterator<C> && !std::convertible_to<C&, std::string>)
auto into(C& to) {
  return detail::sink_closure([&to]<typename T>() { return detail::container_sink<C, T>(to); });
}
/// Ends a flow in an output iterator. Byte strings are assigned as strings if views cannot be.
/// Checked: sinks_test.cpp.
template <std::input_or_output_iterator Out>
  requires(!std::convertible_to<Out, std::string>)
auto into(Out out) {
  return detail::sink_closure(
      [out = std::move(out)]<typename>() { return detail::iterator_sink<Out>(out); });
}

/// Ends a flow in a vector that run() and graph::add() yield. It lies on the storage of the graph.
///
/// I/Os:    Writes the items once.
/// Errors:  of the run: as vector::push_back().
/// Checked: sinks_test.cpp.
inline auto materialize() { return detail::materialize_closure(); }

/// Ends a flow in a value: `value = f(value, item)` for each item, in order, beginning with `init`.
/// run() and graph::add() yield it.
/// Checked: sinks_test.cpp.
template <typename R, typename F = std::plus<>>
auto reduce(R init, F f = {}) {
  return detail::make_value_closure<R>([init = std::move(init), f = std::move(f)](auto result) {
    return detail::fold_sink<R, F>(init, f, result, "reduce");
  });
}

/// Ends a flow in the number of its items.
/// Checked: sinks_test.cpp.
inline auto count() {
  auto const one_more = [](std::uint64_t n, auto const&) { return n + 1; };
  return detail::make_value_closure<std::uint64_t>([one_more](auto result) {
    return detail::fold_sink<std::uint64_t, decltype(one_more)>(0, one_more, result, "count");
  });
}

/// Ends a flow by forgetting its items.
/// Checked: sinks_test.cpp.
inline auto discard() {
  return detail::sink_closure([]<typename>() { return detail::discard_sink(); });
}

}  // namespace outsize::stream
