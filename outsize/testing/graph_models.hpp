// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Random graphs in memory, and models of algorithms on graphs. Layer: testing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace outsize::models {

using vertex_pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// Pairs of vertices below `vertices`, in any direction, some of them loops, some repeated.
inline vertex_pairs random_pairs(std::mt19937_64& random, std::uint64_t vertices,
                                 std::size_t count) {
  vertex_pairs pairs;
  if (vertices == 0) return pairs;
  for (std::size_t i = 0; i < count; ++i) {
    bool const is_repeated = !pairs.empty() && random() % 10 == 0;
    auto pair = is_repeated ? pairs[random() % pairs.size()]
                            : std::pair(random() % vertices, random() % vertices);
    if (random() % 20 == 0) pair.second = pair.first;
    if (random() % 2 == 0) std::swap(pair.first, pair.second);
    pairs.push_back(pair);
  }
  return pairs;
}

/// The simple graph: u < v, sorted, each edge once.
inline vertex_pairs simple_pairs(vertex_pairs pairs) {
  for (auto& pair : pairs)
    if (pair.first > pair.second) std::swap(pair.first, pair.second);
  std::erase_if(pairs, [](auto const& pair) { return pair.first == pair.second; });
  std::ranges::sort(pairs);
  auto const repeats = std::ranges::unique(pairs);
  pairs.erase(repeats.begin(), repeats.end());
  return pairs;
}

/// The members that a greedy takes, vertex by vertex.
inline std::vector<std::uint64_t> greedy_set(std::uint64_t vertices, vertex_pairs const& pairs) {
  std::vector<std::vector<std::uint64_t>> neighbours(vertices);
  for (auto const& [u, v] : pairs) {
    if (u == v) continue;
    neighbours[u].push_back(v);
    neighbours[v].push_back(u);
  }
  std::vector<bool> is_member(vertices, false);
  std::vector<std::uint64_t> members;
  for (std::uint64_t v = 0; v < vertices; ++v) {
    if (std::ranges::any_of(neighbours[v], [&](std::uint64_t w) { return is_member[w]; })) continue;
    is_member[v] = true;
    members.push_back(v);
  }
  return members;
}

}  // namespace outsize::models
