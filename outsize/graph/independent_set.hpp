// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The maximal independent set that a greedy by vertex number finds, by time-forward processing:
//
//   edges, sorted ─▶ vertex v: no message? ─yes─▶ a member, which writes to its later neighbours
//
// All vertices are visited, isolated ones too; Listing 8 of the paper visits those with edges. A
// set of vertices is independent if no edge joins two of them, and maximal if each other vertex has
// a neighbour in it. One thread; the storage's team sorts. Layer: graph. Source: Zeh: I/O-efficient
// algorithms for shortest path related problems, 2002; STXXL 2008, section 9.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <variant>

#include <outsize/algorithm/sort_options.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/sequence.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/container/vector_readers.hpp>
#include <outsize/graph/edge.hpp>
#include <outsize/graph/simple_edges.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/time_forward.hpp>

namespace outsize::graphs {

/// Finds the lexicographically first maximal independent set of a simple graph, and calls
/// `take(v)` for its members in ascending order. Returns their number.
///
/// @param vertices  Their number n; they are 0 to n - 1.
/// @param edges  An element_stream of edges as simple_edges yields them: u < v, sorted. Repeated
///               edges do no harm.
///
/// I/Os:    a scan of the edges; a priority_queue of one event for each edge that leaves a member,
///          of sizeof(Vertex) bytes.
/// CPU:     O(n + m log m) for m edges.
/// Memory:  options.memory_bytes, or a queue's share.
/// Errors:  std::invalid_argument if edges are not sorted, lead downward, or to no vertex; errors
///          of the queue, of the stream and of `take`.
/// Source:  STXXL 2008, section 9, Listing 8.
/// Checked: independent_set_test.cpp.
template <vertex_number Vertex, stream::element_stream Edges, typename Take>
std::uint64_t independent_set(storage& store, Vertex vertices, Edges& edges, Take take,
                              priority_queue_options options = {}) {
  using edge_type = stream::stream_item_t<Edges>;
  std::uint64_t members = 0;
  stream::time_forward<void>(
      store, vertices, edges, &edge_type::from, &edge_type::to,
      [&](Vertex v, std::uint64_t member_neighbours, auto& out) {
        if (member_neighbours > 0) return;
        ++members;
        take(v);
        out.send_all();
      },
      options);
  return members;
}

/// Does the same with containers: appends the members to `into`. @pre the edges are as
/// make_simple() leaves them. Errors: likewise; `into` then has the members found so far.
template <vertex_number Vertex>
std::uint64_t independent_set(storage& store, Vertex vertices, vector<edge<Vertex>> const& edges,
                              sequence<Vertex>& into, priority_queue_options options = {}) {
  vector_reader<edge<Vertex>> in(edges);
  return independent_set(
      store, vertices, in, [&into](Vertex v) { into.push_back(v); }, options);
}

/// Called with members in ascending order, at least one at a time.
using member_sink = std::function<void(std::span<std::uint64_t const>)>;

/// The outcome of independent_set_finder::find().
struct independent_set_report {
  std::uint64_t vertices = 0;
  std::uint64_t members = 0;
  std::size_t vertex_bytes = 0;  ///< The length of an event: 4 or 8.
  sort_report sort = {};         ///< The sort of the edges, loops aside; repeats are items.
};

/// Finds the set in one flow from edges of any kind to a sink, compiled once: Listing 7 with 8.
/// Edges and events have vertices of 32 bits as long as all that come fit, else of 64; edges
/// that were sorted in 32 bits are sorted again then.
///
///     independent_set_finder finder(store);
///     while (…) finder.push(some_edges);
///     finder.find(vertices, [&](std::span<std::uint64_t const> members) { … });
///
/// I/Os:    those of simple_edges and of independent_set().
/// Memory:  shares of the storage's budget.
/// Disk:    the edges, 8 or 16 bytes each, and the events; freed as they are read.
/// Errors:  as sorter and priority_queue; from find() std::invalid_argument if an edge leads to no
///          vertex. Nothing is left on disk.
/// Checked: independent_set_test.cpp.
class independent_set_finder {
 public:
  explicit independent_set_finder(storage& store, sort_options options = {});

  /// Adds edges in any order and direction; loops and repeats have no effect.
  void push(std::span<edge<std::uint64_t> const> edges);
  void push(edge<std::uint64_t> e) { push(std::span<edge<std::uint64_t> const>(&e, 1)); }

  /// Finds the set of the graph of `vertices` vertices. Call it once.
  independent_set_report find(std::uint64_t vertices, member_sink const& take);

 private:
  using narrow = simple_edges<std::uint32_t>;
  using wide = simple_edges<std::uint64_t>;

  void widen();

  storage& store_;
  sort_options options_;
  std::variant<narrow, wide> edges_;
};

}  // namespace outsize::graphs
