// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Proves that a set of vertices is independent and maximal, by another algorithm than the one that
// finds such sets: no priority queue, and no order of the edges.
//
//   two bits a vertex fit in memory:   edges ─▶ member? ─▶ mark the other end       one scan
//   else:  arcs, both ways, by tail ─▶ merged with the set: tail a member? ─▶ (head, tail)
//          these, by head ─▶ merged with the set and 0 … n-1
//
// Invariant: members come first, then edges. One thread at a time. Layer: graph.

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <outsize/algorithm/sort_options.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/graph/edge.hpp>

namespace outsize::graphs {

/// The reason why a set is not a maximal independent set.
struct independence_fault {
  enum class kind : std::uint8_t {
    dependent_edge,   ///< Both ends of `where` are members.
    uncovered_vertex  ///< where.from == where.to is no member, and has no neighbour in the set.
  };
  kind what = kind::dependent_edge;
  edge<std::uint64_t> where = {};

  auto operator<=>(independence_fault const&) const = default;
  /// Returns "3 and 7 are members and joined by an edge" or the like, with vertices numbered from
  /// `first_vertex`.
  std::string message(std::uint64_t first_vertex = 0) const;
};

/// Options of independent_set_check that change the performance.
struct independent_set_check_options {
  /// Memory for the two bits of each vertex. If more is needed, edges are sorted. By default a
  /// half of the memory that the storage can spare.
  std::optional<std::uint64_t> most_bitmap_bytes = {};
  sort_options sorting = {};  ///< How arcs are sorted; `unique` is set.
};

/// Takes a set and the edges of a graph, and finds a fault if there is one.
///
/// I/Os:    none with bitmaps. Else sorts of members, of two arcs for each edge (8 bytes each, 16
///          for 2^32 vertices or more), and of an arc for each edge that ends at a member.
/// CPU:     O(n + m) with bitmaps, else O(n + m log m).
/// Memory:  ⌈n/4⌉ bytes at most, or shares of the storage's budget.
/// Errors:  format_error if a member or the end of an edge is not below `vertices`; errors of
///          sorter. Nothing is left on disk.
/// Checked: independent_set_check_test.cpp.
class independent_set_check {
 public:
  /// For a graph of `vertices` vertices. `store` must outlive it.
  independent_set_check(storage& store, std::uint64_t vertices,
                        independent_set_check_options options = {});
  ~independent_set_check();

  /// Adds members, in any order, repeats too. @pre no edge has been pushed.
  void push_members(std::span<std::uint64_t const> members);
  /// Adds edges in any order and direction; loops and repeats have no effect.
  void push_edges(std::span<edge<std::uint64_t> const> edges);

  /// Ends the input. Returns the least edge inside of the set, else the least uncovered vertex,
  /// nothing if the set is independent and maximal. Call it once.
  std::optional<independence_fault> fault();

  /// Tells whether bitmaps are used.
  bool uses_bitmaps() const noexcept { return uses_bitmaps_; }

  class method;  ///< The inside: one of the two algorithms.

 private:
  std::uint64_t vertices_;
  bool uses_bitmaps_ = false;
  std::unique_ptr<method> method_;
};

}  // namespace outsize::graphs
