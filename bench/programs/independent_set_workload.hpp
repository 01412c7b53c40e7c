// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The benchmark of independent sets: its random graph, and the set that programs must find; the
// peers use the same. C++17.
//
// Edges lead from the lesser to the greater vertex. The set is the one of the greedy algorithm that
// takes the vertices in order, so it is the same for all programs.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "flow_items.hpp"
#include "queue_workload.hpp"

namespace independent_set {

using flows::checksum;
using flows::edge;
using vertex = std::uint32_t;

/// A graph of `edge_count` random edges, loops and repeated edges among them. Its vertices are a
/// power of two: half of the edges at least, all of them at most.
struct random_graph {
  std::uint64_t edge_count;

  std::uint64_t vertex_count() const {
    std::uint64_t n = 1;
    while (2 * n <= edge_count && n < std::uint64_t{1} << 31) n *= 2;
    return n;
  }
};

/// The edges of a random graph, one after another.
class edge_generator {
 public:
  explicit edge_generator(random_graph const& graph) : mask_(graph.vertex_count() - 1) {}

  edge operator()() {
    std::uint64_t const both = random_();
    std::uint64_t const a = both >> 32 & mask_, b = both & mask_;
    return a < b ? edge{a, b} : edge{b, a};
  }

 private:
  queues::random_numbers random_;
  std::uint64_t mask_;
};

/// The set as it is found: ascending vertices.
class member_sum {
 public:
  void add(std::uint64_t member) {
    in_order_ &= sum_.count == 0 || last_ < member;
    last_ = member;
    sum_.add(member, 0);
  }
  bool in_order() const { return in_order_; }
  std::uint64_t count() const { return sum_.count; }
  friend bool operator==(member_sum const& a, member_sum const& b) { return a.sum_ == b.sum_; }

 private:
  checksum sum_;
  std::uint64_t last_ = 0;
  bool in_order_ = true;
};

/// The greedy algorithm in memory, for a range of vertices after another: the edges are made anew
/// for each range, so that a part of them is in memory at once, up to 2^25.
class greedy {
 public:
  explicit greedy(random_graph const& graph)
      : graph_(graph),
        vertices_at_once_(graph.vertex_count() / (graph.edge_count / (1 << 24) + 1) + 1),
        is_covered_(graph.vertex_count()) {}

  member_sum members() {
    member_sum found;
    for (std::uint64_t first = 0; first < graph_.vertex_count(); first += vertices_at_once_) {
      collect_heads(first);
      std::uint64_t const end = first + vertices_at_once_;
      for (std::uint64_t v = first; v < end && v < graph_.vertex_count(); ++v) {
        if (is_covered_[v]) continue;
        found.add(v);
        for (std::size_t i = begin_of_[v - first]; i < begin_of_[v - first + 1]; ++i)
          is_covered_[heads_[i]] = true;
      }
    }
    return found;
  }

 private:
  /// Calls use(tail's place in the range, head) for the edges of a range.
  template <typename Use>
  void for_each_edge(std::uint64_t first, Use const& use) const {
    edge_generator next(graph_);
    for (std::uint64_t i = 0; i < graph_.edge_count; ++i)
      if (edge const e = next(); e.source - first < vertices_at_once_ && !e.is_loop())
        use(static_cast<std::size_t>(e.source - first), static_cast<vertex>(e.target));
  }
  /// Lists the heads of each vertex, one list behind the other.
  void collect_heads(std::uint64_t first) {
    begin_of_.assign(vertices_at_once_ + 2, 0);
    for_each_edge(first, [&](std::size_t v, vertex) { ++begin_of_[v + 2]; });
    for (std::size_t v = 2; v < begin_of_.size(); ++v) begin_of_[v] += begin_of_[v - 1];
    heads_.resize(begin_of_.back());
    for_each_edge(first, [&](std::size_t v, vertex head) { heads_[begin_of_[v + 1]++] = head; });
  }

  random_graph graph_;
  std::uint64_t vertices_at_once_;
  std::vector<bool> is_covered_;
  std::vector<vertex> heads_;
  std::vector<std::uint32_t> begin_of_;
};

}  // namespace independent_set
