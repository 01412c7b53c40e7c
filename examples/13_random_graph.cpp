// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A random graph larger than memory, as a sorted array of edges: Listing 6 of the STXXL paper.

#include <algorithm>
#include <compare>
#include <cstdint>
#include <iostream>
#include <random>
#include <utility>

#include <outsize/scan/algorithms.hpp>

struct edge {
  std::uint32_t from, to;
  auto operator<=>(edge const&) const = default;
};

struct random_edge {
  std::mt19937 random;  // NOLINT(cert-msc51-cpp): the same graph each time

  std::uint32_t node() { return static_cast<std::uint32_t>(random() % 1024); }
  edge operator()() {
    edge e{node(), node()};
    while (e.to == e.from) e.to = node();
    return e;
  }
};

int main() {
  outsize::storage store({.memory_bytes = 4 << 20});
  outsize::vector<edge> edges(store);
  edges.resize(1'000'000);
  outsize::generate(edges, random_edge());
  outsize::sort(edges);
  edges.erase(outsize::unique(edges), edges.end());

  if (!std::ranges::is_sorted(std::as_const(edges))) return 1;

  auto const to_lower = [](edge e) { return e.to < e.from; };
  std::cout << edges.size() << " edges, " << outsize::count_if(outsize::par, edges, to_lower)
            << " of them to a lower node; the last is " << edges.back().from << " -> "
            << edges.back().to << '\n';
}
