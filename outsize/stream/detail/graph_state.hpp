// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A graph as it is planned and run: segments, boundaries between them, phases.
//
//   add()      segments and boundaries become known
//   plan()     divide_graph() (phases.hpp); some links become stores
//   run()      for each phase: its sorts claim memory, its segments become nodes of a network
//
// One thread at a time; progress() any. Layer: stream, internal.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <outsize/stream/detail/boundary.hpp>
#include <outsize/stream/detail/context.hpp>
#include <outsize/stream/detail/phases.hpp>
#include <outsize/stream/detail/segment.hpp>
#include <outsize/stream/graph.hpp>

namespace outsize::stream::detail {

/// One segment and its description.
struct segment_record {
  std::unique_ptr<segment_base> code;
  description what;
  std::vector<boundary_base*> writes;
  std::string label;
  bool has_run = false;
};

/// Components that run at once.
struct phase_plan {
  std::vector<std::size_t> segments;
};

struct graph_plan {
  std::vector<component> components;       // by level
  std::vector<boundary_base*> boundaries;  // between segments
};

struct graph_state {
  graph_state(storage& s, std::string n, graph_options o)
      : store(s), name(std::move(n)), options(std::move(o)) {}

  /// @throws plan_error.
  void add(fragment all);
  /// Foresees how many items go through boundaries whose writers have not run.
  void count_items();
  graph_plan plan();
  /// Groups the components of a level that run at once, by the sizes that are known now.
  std::vector<phase_plan> phases_of_level(graph_plan const& all, std::size_t level) const;
  void run(std::stop_token stop);
  std::string explain();
  graph_progress progress() const;

  storage& store;
  std::string name;
  graph_options options;
  std::vector<segment_record> segments;
  std::vector<std::shared_ptr<boundary_base>> boundaries;  // that are read
  std::vector<std::shared_ptr<boundary_base>> outputs;     // of forks
  graph_report report;
  std::map<segment_base const*, graph_report::place> places;  // of segments that have run
  bool has_run = false;
  bool has_started = false;

  // While it runs.
  std::atomic<std::size_t> phase{0}, phases{0};
  std::atomic<std::uint64_t> moved_bytes{0}, total_bytes{0};
  std::atomic<std::int64_t> begin_ns{0};
  std::atomic<bool> finished{false};
};

/// Runs one phase of a graph, g.phase.
void run_phase(graph_state& g, phase_plan const& phase, std::stop_token stop);

/// The memory that a phase needs beside sorts and containers.
struct phase_memory {
  std::size_t channel_buffers = 0;
  std::size_t channel_buffer_bytes = 0;
  std::uint64_t stream_bytes = 0;    // from which each file plans
  std::uint64_t file_bytes = 0;      // for each file
  std::uint64_t reserved_bytes = 0;  // for all of it, while sorts claim theirs
};
phase_memory memory_of_phase(graph_state const& g, phase_plan const& phase);

/// A claim of a phase; of a boundary that is read or written, or of all else.
struct named_claim {
  std::string name;
  memory_claim claim;
  boundary_base* read = nullptr;
  boundary_base* written = nullptr;
};
std::vector<named_claim> claims_of_phase(graph_state const& g, phase_plan const& phase);
/// Returns the share of each claim; nothing if there is too little memory for all.
std::optional<std::vector<std::uint64_t>> shares_of(graph_state const& g,
                                                    std::vector<named_claim> const& claims);

}  // namespace outsize::stream::detail
