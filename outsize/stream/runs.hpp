// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sorted runs as the end of one graph and the beginning of another: one step of a loop sorts items,
// and the next one reads them.
//
//     auto runs = run(store, from(edges) | into_runs(by_source));
//     run(store, from(std::move(runs)) | into(sorted));
//
// Layer: stream. The runs themselves: algorithm/sorted_runs.hpp.

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <outsize/algorithm/sort_options.hpp>
#include <outsize/algorithm/sorted_runs.hpp>
#include <outsize/stream/detail/context.hpp>
#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>

namespace outsize::stream {
namespace detail {

template <typename T, typename Less>
class runs_source : public piece_source<runs_source<T, Less>, T> {
 public:
  explicit runs_source(sorted_runs<T, Less> runs) : runs_(std::move(runs)), count_(runs_.size()) {}

  void open(segment_context&) { merger_.emplace(std::move(runs_)); }
  std::span<T const> next_piece() {
    merger_->skip(shown_);
    auto const piece = merger_->pull();
    shown_ = piece.size();
    return piece;
  }
  void describe(description& d) const { d.operators.emplace_back("from runs"); }
  /// Fewer, if equal ones were made one.
  item_count size() const noexcept { return item_count::up_to(count_); }

 private:
  sorted_runs<T, Less> runs_;
  std::uint64_t count_;
  std::optional<runs_merger<T, Less>> merger_;
  std::size_t shown_ = 0;
};

template <typename T, typename Less>
class runs_sink : public end_sink {
 public:
  using result = sorted_runs<T, Less>;

  runs_sink(Less less, sort_options options, std::shared_ptr<std::optional<result>> to)
      : less_(std::move(less)), options_(std::move(options)), to_(std::move(to)) {}

  void begin(segment_context& c) {
    context_ = &c;
    options_.stop = c.stop();
    creator_.emplace(c.store(), std::move(less_), std::move(options_));
  }
  void push(T const& item) { creator_->push(item); }
  void finish() {
    context_->outside([this] { to_->emplace(creator_->finish()); });
  }
  void describe(description& d) const { d.operators.emplace_back("into runs"); }

 private:
  Less less_;
  sort_options options_;
  std::shared_ptr<std::optional<result>> to_;
  segment_context* context_ = nullptr;
  std::optional<runs_creator<T, Less>> creator_;
};

template <typename Less>
struct runs_closure : operator_tag {
  runs_closure(Less l, sort_options o) : less(std::move(l)), options(std::move(o)) {}

  template <typename Expr, bool in_graph>
  auto operator()(flow<Expr, in_graph> in) {
    using item = stream_item_t<Expr>;
    using runs = sorted_runs<item, Less>;
    auto all = in.take_fragment();
    auto const result = std::make_shared<std::optional<runs>>();
    all.add(make_segment(in.take_expression(), runs_sink<item, Less>(less, options, result)));
    return closed_flow<runs>(std::move(all), result);
  }

  Less less;
  sort_options options;
};

}  // namespace detail

/// Begins a flow at sorted runs, which it merges. I/Os, memory: as runs_merger.
/// Checked: runs_test.cpp.
template <typename T, typename Less>
auto from(sorted_runs<T, Less> runs) {
  return flow(detail::runs_source<T, Less>(std::move(runs)));
}

/// Ends a flow in sorted runs, which run() and graph::add() yield. They need the storage of the
/// graph, which must outlive them. I/Os, memory: as runs_creator.
/// Checked: runs_test.cpp.
template <typename Less = std::less<>>
auto into_runs(Less less = {}, sort_options options = {}) {
  return detail::runs_closure<Less>(std::move(less), std::move(options));
}

}  // namespace outsize::stream
