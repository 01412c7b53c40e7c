// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The part of a graph that stands behind a flow: the segments before its last boundary.
//
// Move-only values. Layer: stream, internal.

#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <outsize/stream/detail/segment.hpp>

namespace outsize::stream::detail {

struct graph_state;

class fragment {
 public:
  fragment() = default;
  explicit fragment(graph_state* of) : graph_(of) {}

  void add(std::unique_ptr<segment_base> s) { segments_.push_back(std::move(s)); }
  /// Takes those of another in front. @throws plan_error if they belong to different graphs.
  void join(fragment other);
  std::vector<std::unique_ptr<segment_base>> take() { return std::move(segments_); }
  graph_state* graph() const noexcept { return graph_; }

 private:
  std::vector<std::unique_ptr<segment_base>> segments_;
  graph_state* graph_ = nullptr;  // to which a port among its sources belongs
};

/// Hands segments to the graph to which they belong.
void add_to_graph(fragment some);

/// Says that the flow behind a port has begun. @throws plan_error if it has before.
void use_port(boundary_base& b);

/// Ends an expression at a boundary: the segment that leads there.
template <typename Expr, typename Sink>
std::unique_ptr<segment_base> make_segment(Expr expression, Sink sink) {
  return std::make_unique<segment<Expr, Sink>>(std::move(expression), std::move(sink));
}

}  // namespace outsize::stream::detail
