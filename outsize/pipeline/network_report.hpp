// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What a network is and what it did: for people, as text, picture and trace.
//
// Plain values, complete when they are handed out. Layer: pipeline.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <outsize/base/memory_budget.hpp>
#include <outsize/io/timeline.hpp>

namespace outsize::pipeline {

/// How far a running network is.
struct network_progress {
  std::uint64_t buffers = 0;  ///< That have gone all their way.
  std::uint64_t bytes = 0;    ///< In them, or noted by nodes (ports::note).
  double seconds = 0;         ///< Since the start.
  bool finished = false;
};

/// Threads in traces from this number on are none: first_lane * (s + 1) + k is the k-th step in
/// flight of stage s, or the node s.
inline constexpr std::size_t first_lane = 1000;

/// One step of one stage, for traces; of a node: what it did between two waits.
struct trace_event {
  std::size_t stage;
  std::size_t thread;  ///< A worker's number, or a lane.
  std::uint64_t round;
  std::int64_t begin_ns;  ///< Since the start of the network.
  std::int64_t end_ns;
};

/// A network, and its measurements once it has run. Times are sums over the replicas of a stage.
struct network_report {
  struct pool {
    std::string name;
    std::size_t buffer_bytes = 0;
    std::size_t count = 0;        ///< Buffers it has.
    std::size_t first_count = 0;  ///< Buffers it began with.
    std::uint64_t buffers_sent = 0;
  };
  struct stage {
    std::string name;
    std::string kind;                 ///< "stage", "asynchronous", "node", "external", "barrier".
    std::string cluster;              ///< Of network::group(); may be empty.
    std::string thread;               ///< "shared", "own", or the name of its group.
    std::size_t replicas = 1;         ///< Allowed at once.
    std::size_t most_at_once = 0;     ///< That there were.
    std::uint64_t buffers = 0;        ///< Steps.
    std::uint64_t bytes = 0;          ///< In the buffers that left it, or noted by a node.
    std::uint64_t items = 0;          ///< Noted by a node (ports::note).
    double busy_seconds = 0;          ///< In its function.
    double input_wait_seconds = 0;    ///< Without a buffer to work on.
    double other_wait_seconds = 0;    ///< With a buffer, but without room, thread or turn.
    std::uint64_t granted_bytes = 0;  ///< Memory that it was to have, if known; and that it had.
    std::uint64_t used_bytes = 0;
    std::string note;  ///< What was tuned, and why.
  };
  struct connection {
    bool from_pool;
    std::size_t from;  ///< Index of the pool or stage.
    std::size_t to;    ///< Index of the stage; as many as there are stages: home.
  };

  std::string name;
  std::size_t threads = 0;
  bool has_run = false;
  std::int64_t begin_ns = 0;  ///< When it started, by the steady clock.
  double seconds = 0;
  std::vector<pool> pools;
  std::vector<stage> stages;
  std::vector<connection> connections;
  std::vector<trace_event> trace;
  std::uint64_t trace_dropped = 0;  ///< Events beyond the most that are kept.
  memory_report memory;             ///< How the budget was divided when this was made.

  /// A table of pools and stages, and of who has memory.
  std::string explain() const;
  /// The network in Graphviz's language; the stage that was busy longest is red.
  std::string dot() const;
  /// The same as a picture that needs no other program.
  std::string svg() const;
  /// The steps as JSON for trace viewers of browsers (Chrome's trace event format).
  std::string chrome_trace() const;
};

/// The same for networks that ran one after another or at once, and the I/O meanwhile: on one
/// clock, side by side. Each network is shown as a process with its threads; the I/O as one more,
/// with rows for the reads and the writes of each track and for threads that waited.
std::string chrome_trace(std::span<network_report const> networks, io::timeline const& io);

}  // namespace outsize::pipeline
