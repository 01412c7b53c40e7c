// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A maximal independent set of a random graph, by time-forward processing: vertices are visited in
// order, and each member of the set tells its later neighbours. STXXL 2008, section 9.

#include <cstdint>
#include <iostream>
#include <utility>

#include <outsize/algorithm/sorter.hpp>
#include <outsize/base/units.hpp>
#include <outsize/stream/time_forward.hpp>

struct edge {
  std::uint32_t from, to;
  auto operator<=>(edge const&) const = default;
};

int main() {
  using namespace outsize;
  storage store({.memory_bytes = 16_MiB});
  constexpr std::uint32_t vertices = 1'000'000;

  outsize::sorter<edge> edges(store, {}, {.unique = true});
  std::uint64_t x = 1;
  for (int i = 0; i < 4'000'000; ++i) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    auto from = static_cast<std::uint32_t>((x >> 40) % vertices);
    auto to = static_cast<std::uint32_t>((x >> 16) % vertices);
    if (from > to) std::swap(from, to);
    if (from != to) edges.push({from, to});
  }
  edges.sort();

  std::uint64_t members = 0;
  stream::time_forward<void>(store, vertices, edges, &edge::from, &edge::to,
                             [&](std::uint32_t, std::uint64_t member_neighbours, auto& out) {
                               if (member_neighbours > 0) return;
                               ++members;
                               out.send_all();
                             });
  std::cout << members << " of " << vertices << " vertices are in the set\n";
}
