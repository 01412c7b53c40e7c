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

/// Checks a set whose members are added in order. It is the greedy one exactly if no edge joins two
/// members and each other vertex has a lesser neighbour that is a member: by induction over the
/// vertices. One scan of the edges shows both. Memory: two bits for each vertex.
class set_check {
 public:
  explicit set_check(random_graph const& graph)
      : graph_(graph), is_member_(graph.vertex_count()), is_covered_(graph.vertex_count()) {}

  void add(std::uint64_t member) {
    if (member >= is_member_.size() || (count_ > 0 && member <= last_)) return void(good_ = false);
    is_member_[member] = true;
    last_ = member;
    ++count_;
  }
  std::uint64_t count() const { return count_; }

  bool is_greedy() {
    edge_generator next(graph_);
    for (std::uint64_t i = 0; i < graph_.edge_count; ++i) {
      edge const e = next();
      if (e.is_loop() || !is_member_[e.source]) continue;
      good_ &= !is_member_[e.target];
      is_covered_[e.target] = true;
    }
    for (std::size_t v = 0; v < is_member_.size(); ++v) good_ &= is_member_[v] || is_covered_[v];
    return good_;
  }

 private:
  random_graph graph_;
  std::vector<bool> is_member_, is_covered_;
  std::uint64_t last_ = 0, count_ = 0;
  bool good_ = true;
};

}  // namespace independent_set
