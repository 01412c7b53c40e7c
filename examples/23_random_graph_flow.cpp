// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A random graph without loops and repeated edges, made in one flow: only the sort and the sink
// write edges to disk.

#include <compare>
#include <cstdint>
#include <iostream>
#include <optional>
#include <random>

#include <outsize/base/units.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/stream/streams.hpp>

struct edge {
  std::uint32_t from, to;
  auto operator<=>(edge const&) const = default;
};

int main() {
  using namespace outsize::stream;
  using outsize::operator""_MiB;
  outsize::storage store({.memory_bytes = 16_MiB});
  outsize::vector<edge> clean(store);

  std::mt19937 random(1);
  auto const next = [&]() -> std::optional<edge> {
    return edge{static_cast<std::uint32_t>(random()) >> 20,
                static_cast<std::uint32_t>(random()) >> 20};
  };
  auto const is_no_loop = [](edge const& e) { return e.from != e.to; };

  run(store,
      generate(next) | take(3'000'000) | filter(is_no_loop) | sort() | unique() | into(clean));

  std::cout << clean.size() << " edges\n";
}
