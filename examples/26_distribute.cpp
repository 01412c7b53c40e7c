// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A function that takes long, called by all threads: items are distributed to them, and results are
// collected in the same order.

#include <cstdint>
#include <iostream>

#include <outsize/base/units.hpp>
#include <outsize/stream/streams.hpp>

/// The steps from n to 1 by halving even numbers and going from odd ones to 3n + 1.
std::uint64_t steps_from(std::uint64_t n) {
  std::uint64_t steps = 0;
  for (; n > 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return steps;
}

int main() {
  using namespace outsize::stream;
  using outsize::operator""_MiB;
  outsize::storage store({.memory_bytes = 16_MiB, .threads = 2});

  auto const longest = [](std::uint64_t most, std::uint64_t steps) {
    return steps > most ? steps : most;
  };
  auto const most =
      run(store, counter(std::uint64_t{1}, 300'000) | parallel(transform(steps_from)) |
                     reduce(std::uint64_t{0}, longest));
  std::cout << "at most " << most << " steps\n";
}
