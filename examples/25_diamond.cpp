// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The Diamond: one source, two paths of two sorts each, and a join that finds equal pairs.

#include <cstdint>
#include <functional>
#include <iostream>

#include <outsize/base/units.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/stream/streams.hpp>

struct pair {
  std::uint64_t first, second;
  bool operator==(pair const&) const = default;
};

int main() {
  using namespace outsize::stream;
  using outsize::by;
  using outsize::operator""_MiB;
  outsize::storage store({.memory_bytes = 16_MiB, .threads = 2});
  auto const scrambled = [](std::uint64_t i) { return pair{i * 7919 % 1'000'003, i}; };

  graph g(store, "diamond");
  auto [a, b] = g.fork<2>(counter(std::uint64_t{0}, 500'000) | transform(scrambled));
  auto up = a | sort(by(&pair::first)) | sort(by(&pair::second));
  auto down = b | sort(by(&pair::first, std::greater<>())) | sort(by(&pair::second));
  auto differences = g.add(zip(up, down) | filter(std::not_equal_to<>()) | count());

  std::cout << g.explain();
  g.run();
  std::cout << differences.get() << " differences\n";
}
