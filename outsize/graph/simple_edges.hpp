// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The edges of an undirected graph, in the order that time-forward processing asks for: each one
// once, from its lower to its higher vertex, without loops, sorted.
//
//   push ─▶ upward, no loops ─▶ sorter, each once ─▶ stream of edges      (simple_edges)
//   vector of edges ─▶ the same steps in place                            (make_simple)
//
// Invariant: edges are pushed before sort(), and read after it. One thread at a time. Layer: graph.
// Source: STXXL 2008, Listings 6 and 7.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include <outsize/algorithm/sorter.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/graph/edge.hpp>
#include <outsize/scan/algorithms.hpp>
#include <outsize/scan/sort_containers.hpp>

namespace outsize::graphs {

/// Takes edges in any order, any direction, with repeats and loops, and yields a simple graph: the
/// pipelined form (Listing 7). After sort() it is an element_stream of edge<Vertex>.
///
///     simple_edges<std::uint32_t> edges(store);
///     for (…) edges.push({u, v});
///     for (edges.sort(); !edges.empty(); ++edges) use(*edges);
///
/// I/Os:    those of a sorter of numbers of 8 bytes (16 if vertices have 64 bits).
/// Memory, disk, errors: the sorter's.
/// Checked: simple_edges_test.cpp.
template <vertex_number Vertex>
class simple_edges {
  using number = detail::edge_number<Vertex>;
  using word = typename number::type;

 public:
  using value_type = edge<Vertex>;

  /// Takes `store`, which must outlive it. `options.unique` is set. @throws as sorter.
  explicit simple_edges(storage& store, sort_options options = {})
      : sorter_(store, {}, with_unique(std::move(options))) {}

  void push(edge<Vertex> e) { push(std::span<edge<Vertex> const>(&e, 1)); }
  /// Takes edges whose vertices are of this or a longer type. @pre they fit in Vertex.
  template <vertex_number Wider>
  void push(std::span<edge<Wider> const> edges) {
    std::array<word, 256> some;
    while (!edges.empty()) {
      auto const now = edges.first(std::min(edges.size(), some.size()));
      std::size_t count = 0;
      for (auto const& e : now) {
        some[count] = number::of(static_cast<Vertex>(std::min(e.from, e.to)),
                                 static_cast<Vertex>(std::max(e.from, e.to)));
        count += e.is_loop() ? 0 : 1;
      }
      sorter_.push(std::span<word const>(some).first(count));
      edges = edges.subspan(now.size());
    }
  }

  /// Ends the input and goes to the first edge.
  void sort() { sorter_.sort(); }

  bool empty() { return sorter_.empty(); }
  edge<Vertex> operator*() { return number::edge_of(*sorter_); }
  simple_edges& operator++() {
    ++sorter_;
    return *this;
  }

  /// Returns the report of the sort; complete when empty().
  sort_report const& report() const noexcept { return sorter_.report(); }

 private:
  static sort_options with_unique(sort_options options) {
    options.unique = true;
    return options;
  }

  sorter<word> sorter_;
};

/// Makes the edges of a vector those of a simple graph, where they are: the form of the standard
/// library (Listing 6).
///
/// I/Os:    two scans that write, the sort of a vector, and the scan of unique().
/// Memory:  options.memory_bytes or the sort's share, beside the vector's.
/// Errors:  as sort(); the vector has edges of the same simple graph then, if no disk has failed.
/// Checked: simple_edges_test.cpp.
template <vertex_number Vertex>
void make_simple(vector<edge<Vertex>>& edges, sort_options options = {}) {
  outsize::erase_if(edges, [](edge<Vertex> const& e) { return e.is_loop(); });
  outsize::for_each(edges.begin(), edges.end(), [](edge<Vertex>& e) { e = e.upward(); });
  options.unique = true;
  outsize::sort(edges, edge_order(), std::move(options));
}

}  // namespace outsize::graphs
