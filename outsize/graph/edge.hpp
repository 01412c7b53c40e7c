// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Edges of graphs whose vertices are numbered from 0.
//
// The namespace is `graphs`, since stream::graph is a graph of operators. Values. Layer: graph.

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstdint>

#include <outsize/algorithm/item_order.hpp>

namespace outsize::graphs {

/// Numbers of vertices: 32 bits where they suffice, else 64. The number of vertices of a graph has
/// the same type, so the greatest value is not a vertex.
template <typename V>
concept vertex_number = std::same_as<V, std::uint32_t> || std::same_as<V, std::uint64_t>;

/// An edge. Algorithms on undirected graphs ignore its direction.
template <vertex_number Vertex>
struct edge {
  Vertex from = 0;
  Vertex to = 0;

  auto operator<=>(edge const&) const = default;

  bool is_loop() const noexcept { return from == to; }
  /// Returns the edge that leads from the lower to the higher vertex.
  edge upward() const noexcept { return {std::min(from, to), std::max(from, to)}; }
};

/// Orders edges by their first vertices, and equal ones by their second. Edges of 8 bytes are
/// sorted by their digits.
struct edge_order {
  template <vertex_number Vertex>
  bool operator()(edge<Vertex> const& a, edge<Vertex> const& b) const noexcept {
    return a < b;
  }
  std::uint64_t word(edge<std::uint32_t> const& e) const noexcept {
    return std::uint64_t{e.from} << 32 | e.to;
  }
};

namespace detail {

/// Edges as numbers of the same order, which sorts of numbers take.
template <vertex_number Vertex>
struct edge_number;

template <>
struct edge_number<std::uint32_t> {
  using type = std::uint64_t;
  static type of(std::uint32_t from, std::uint32_t to) noexcept { return type{from} << 32 | to; }
  static edge<std::uint32_t> edge_of(type number) noexcept {
    return {static_cast<std::uint32_t>(number >> 32), static_cast<std::uint32_t>(number)};
  }
};

template <>
struct edge_number<std::uint64_t> {
  using type = outsize::detail::wide_unsigned;
  static type of(std::uint64_t from, std::uint64_t to) noexcept { return type{from} << 64 | to; }
  static edge<std::uint64_t> edge_of(type number) noexcept {
    return {static_cast<std::uint64_t>(number >> 64), static_cast<std::uint64_t>(number)};
  }
};

}  // namespace detail
}  // namespace outsize::graphs
