// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How each kernel is timed: what it takes for an item, in nanoseconds and cycles, without what is
// done before and after it.
//
//   prepare | kernel | prepare | kernel | ...... | good?
//             timed              timed
//
// One thread at a time. Options of the program are those of Google Benchmark.

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace kernels {

/// How many cycles a core takes in a nanosecond, as of now.
double cycles_per_nanosecond();

/// Runs `kernel` on what `prepare` has made, as often as it takes; at last asks `good`.
template <typename Prepare, typename Kernel, typename Good>
void measure(benchmark::State& state, std::size_t items, Prepare prepare, Kernel kernel,
             Good good) {
  using clock = std::chrono::steady_clock;
  using nanoseconds = std::chrono::duration<double, std::nano>;
  static double const frequency = cycles_per_nanosecond();
  double total = 0;
  for ([[maybe_unused]] auto _ : state) {
    prepare();
    auto const begin = clock::now();
    kernel();
    nanoseconds const took = clock::now() - begin;
    state.SetIterationTime(took.count() * 1e-9);
    total += took.count();
  }
  double const each =
      total / (static_cast<double>(state.iterations()) * static_cast<double>(items));
  state.counters["ns/item"] = each;
  state.counters["cycles/item"] = each * frequency;
  if (!good()) state.SkipWithError("the result is wrong");
}

inline std::size_t count_of(benchmark::State const& state) {
  return static_cast<std::size_t>(state.range(0));
}

/// Items that all are in a core's caches, and items that are not.
inline constexpr std::int64_t in_cache = 1 << 14, beyond_cache = 1 << 23;

}  // namespace kernels
