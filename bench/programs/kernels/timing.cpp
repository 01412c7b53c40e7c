// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The kernels one by one, in memory, by one thread but for those that are for several: the program.
// Every result is looked at once.

#include <bench/programs/kernels/timing.hpp>

#include <cstddef>
#include <cstdint>

namespace kernels {

// A chain of operations of one cycle each tells.
double cycles_per_nanosecond() {
  using nanoseconds = std::chrono::duration<double, std::nano>;
  constexpr std::size_t steps = std::size_t{1} << 26;
  std::uint64_t chain = 1;
  auto const begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < steps; ++i) {
    chain ^= chain << 1;  // two operations
    benchmark::DoNotOptimize(chain);
  }
  return 2.0 * steps / nanoseconds(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace kernels

BENCHMARK_MAIN();
