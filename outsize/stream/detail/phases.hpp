// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How a graph is divided into phases: pure functions of its shape.
//
//   fork ─┬─ sort ──▶ zip        level 0: fork    level 1: zip
//         └───────────▲          a channel from fork to zip would join both levels: it is a store
//
// Segments that channels connect run at the same time: a component. A sort or a store is a cut: the
// segments behind it begin when those before it have ended. A segment's level is the number of cuts
// on the longest path to it. Segments that need not be early are late, so that they read their
// input when it is needed. Layer: stream, internal. Source: IPDPS 2009, section 5.1 (phases, left
// to the future there).

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace outsize::stream::detail {

/// A boundary between two segments.
struct graph_edge {
  std::size_t from;
  std::size_t to;
  bool is_cut;
  std::uint64_t bytes = 0;   // that go through, as far as that is known
  bool can_be_store = true;  // else its ends run at the same time, if it is not cut
};

/// Segments that run at the same time.
struct component {
  std::vector<std::size_t> segments;  // in the direction of the items
  std::size_t level = 0;
};

struct graph_parts {
  std::vector<component> components;  // by level
  std::vector<std::size_t> stores;    // edges that are to be stores
};

/// Divides a graph of `segments` vertices. If an uncut path leads around a cut, puts a store where
/// the fewest bytes go. @throws plan_error if edges lead in a circle.
graph_parts divide_graph(std::size_t segments, std::vector<graph_edge> const& edges);

}  // namespace outsize::stream::detail
