// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Graphs of flows: several inputs and outputs, forks and joins.
//
//     graph g(store, "diamond");
//     auto [a, b] = g.fork<2>(from(pairs) | inspect(checksum));
//     auto up = a | sort(by(&pair::second)) | sort(by(&pair::first));
//     auto down = b | sort(by(&pair::second, std::greater<>())) | sort(by(&pair::first));
//     g.add(zip(up, down) | inspect(checksum) | into(out));
//     g.run();
//
// Sorts divide a graph into phases. The segments of a phase run at once, each on a thread of its
// own, as nodes of a pipeline::network; where fewer sorts at once spare a pass they run in
// turn. Memory, blocks and buffers are the library's business. The result does not depend on them,
// nor on the number of threads, which is the storage's.
//
// Invariant: nothing of a graph runs before run() or start(). One thread at a time. Layer: stream.
// Source: STXXL 2008, section 7; Beckmann, Dementiev, Singler, IPDPS 2009, section 3.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/pipeline/network.hpp>
#include <outsize/stream/detail/fragment.hpp>
#include <outsize/stream/detail/link.hpp>
#include <outsize/stream/flow.hpp>
#include <outsize/stream/graph_report.hpp>

namespace outsize::stream {

/// A part of a graph failed. Names graph, phase and segment; the part's own exception is nested.
class flow_error : public pipeline::stage_error {
 public:
  /// @pre the part's exception is being handled.
  flow_error(std::string const& graph, std::size_t phase, std::size_t phases,
             std::string const& segment, std::string const& reason);

  std::size_t phase() const noexcept { return phase_; }  ///< From 1.

 private:
  std::size_t phase_;
};

/// How far a graph is.
struct graph_progress {
  std::size_t phase = 0;  ///< From 1; 0: not begun.
  std::size_t phases = 0;
  std::uint64_t done_bytes = 0;  ///< Bytes that have come into segments.
  /// Those that will have in the end: an estimate that each phase corrects; at least done_bytes. A
  /// segment is taken to write the bytes that it reads where the number of items is unknown. 0: an
  /// input has an unknown length.
  std::uint64_t total_bytes = 0;
  double seconds = 0;  ///< Since the start.
  bool finished = false;

  /// Returns the time that the rest will take if it goes on as before, unless that is unknown.
  std::optional<double> remaining_seconds() const noexcept;
};

struct graph_options {
  /// Called about five times a second while the graph runs, and at the end, from a thread of its
  /// own. An exception that it throws stops the graph.
  std::function<void(graph_progress const&)> progress = {};
  bool trace = false;  ///< Records steps for graph_report::chrome_trace().
  /// Buffers of each channel; 0: chosen. One is enough. For tests.
  std::size_t channel_buffers = 0;
  std::size_t channel_buffer_bytes = 0;  ///< 0: chosen.
};

/// The value that a part of a graph yields.
template <typename R>
class outcome {
 public:
  explicit outcome(std::shared_ptr<std::optional<R>> value) : value_(std::move(value)) {}

  /// @pre the graph has run.
  R& get() const {
    OUTSIZE_ASSERT(value_->has_value() && "the graph has not run");
    return **value_;
  }

 private:
  std::shared_ptr<std::optional<R>> value_;
};

/// A graph that runs: its progress, its end.
class job {
 public:
  job(job&&) noexcept;
  job& operator=(job&&) noexcept;
  /// Cancels the graph, and waits until it has ended.
  ~job();

  graph_progress progress() const;
  bool finished() const noexcept { return progress().finished; }
  /// Has the graph end soon; wait() throws `cancelled` then.
  void cancel() noexcept;
  /// Waits until the graph has ended. @throws as graph::run().
  graph_report const& wait();

 private:
  friend class graph;
  struct state;
  explicit job(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

class graph {
 public:
  /// Blocks, memory and threads are those of `store`, which must outlive the graph.
  explicit graph(storage& store, std::string name = "graph", graph_options options = {});
  explicit graph(std::string name = "graph", graph_options options = {});
  graph(graph&&) noexcept;
  graph& operator=(graph&&) noexcept;
  ~graph();

  /// Copies each item of a flow to `count` ports. Each has to be used. @throws plan_error.
  template <std::size_t count, detail::flow_like F>
  auto fork(F&& in, std::source_location place = std::source_location::current()) {
    return split<count>(detail::as_flow(std::forward<F>(in)), "fork", place,
                        []<typename T>(std::vector<detail::boundary_sink<T>>& to) {
                          return detail::fork_sink<T>(std::move(to));
                        });
  }
  /// Sends each item to the port whose number `choose(item)` is, below `count`. @throws plan_error;
  /// out of run() flow_error for another number.
  template <std::size_t count, detail::flow_like F, typename Choose>
  auto route(F&& in, Choose choose, std::source_location place = std::source_location::current()) {
    return split<count>(detail::as_flow(std::forward<F>(in)), "route", place,
                        [&choose]<typename T>(std::vector<detail::boundary_sink<T>>& to) {
                          return detail::route_sink<T, Choose>(std::move(to), std::move(choose));
                        });
  }

  /// Adds a flow that ends in a sink. Returns the place of its value, if it yields one.
  /// @throws plan_error if a part of it belongs to another graph.
  void add(closed_flow<> all) { add_fragment(all.take_fragment()); }
  template <typename R>
  outcome<R> add(closed_flow<R> all) {
    add_fragment(all.take_fragment());
    return outcome<R>(all.result());
  }

  /// Returns phases, segments, and the division of memory as far as sizes are known, as text.
  /// @throws plan_error if the graph cannot be run; io_error of inputs.
  std::string explain() const;

  /// Runs all to the end.
  /// @throws plan_error before anything runs: nothing was added, a port leads nowhere, a container
  /// is read and written, or it has run before. budget_error, listing all needs, if a phase does
  /// not fit in the memory. io_error or format_error of an input whose size is asked for before a
  /// phase; flow_error if a part fails; `cancelled`. Files that are not complete
  /// have not appeared then, and no block is left on a disk; containers that were being written
  /// have some of their items.
  graph_report const& run(std::stop_token stop = {});
  /// Does so on a thread of its own. The graph must outlive the job, and stay as it is.
  /// @throws plan_error if it has been started before; all else comes out of job::wait().
  [[nodiscard]] job start();

  /// Returns the measurements of the phases that have run.
  graph_report const& report() const noexcept;

 private:
  template <std::size_t count, typename Expr, bool in_graph, typename MakeSink>
  auto split(flow<Expr, in_graph> in, char const* name, std::source_location const& place,
             MakeSink make) {
    using item = stored_form_t<stream_item_t<Expr>>;
    static_assert(flowing_item<item>, "outsize: items of a fork must be external items or strings");
    std::vector<std::shared_ptr<detail::boundary_of<item>>> outputs;
    std::vector<detail::boundary_sink<item>> sinks;
    for (std::size_t i = 0; i < count; ++i) {
      outputs.push_back(detail::make_link<item>(name + std::to_string(i), place));
      outputs.back()->is_fork_output = true;
      keep(outputs.back());
      sinks.emplace_back(outputs.back());
    }
    auto before = in.take_fragment();
    before.add(detail::make_segment(in.take_expression(), make.template operator()<item>(sinks)));
    add_fragment(std::move(before));
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return std::array<port<item>, count>{port<item>(outputs[i], state_.get())...};
    }(std::make_index_sequence<count>());
  }
  void keep(std::shared_ptr<detail::boundary_base> output);
  void add_fragment(detail::fragment all);

  std::unique_ptr<detail::graph_state> state_;
};

/// Runs one flow, and returns its value, or the report if it yields none. @throws as graph::run().
template <typename R>
auto run(storage& store, closed_flow<R> all) {
  graph g(store, "flow");
  if constexpr (std::is_void_v<R>) {
    g.add(std::move(all));
    return g.run();
  } else {
    auto const result = g.add(std::move(all));
    g.run();
    return std::move(result.get());
  }
}
/// The same on the default storage.
template <typename R>
auto run(closed_flow<R> all) {
  return run(default_storage(), std::move(all));
}
/// Refuses flows without a sink.
template <detail::flow_like F>
void run(F&&) {
  static_assert(sizeof(F) == 0, "outsize: the flow ends in no sink: | into(…), | reduce(…)");
}
template <detail::flow_like F>
void run(storage&, F&&) {
  static_assert(sizeof(F) == 0, "outsize: the flow ends in no sink: | into(…), | reduce(…)");
}

}  // namespace outsize::stream
