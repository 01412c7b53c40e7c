// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How long an index of lines takes to be sorted, by any order that has prefixes. One thread.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <bench/programs/kernels/random_items.hpp>
#include <bench/programs/kernels/timing.hpp>
#include <outsize/kernel/detail/index_sort.hpp>
#include <outsize/kernel/detail/vector_sort.hpp>

namespace kernels {

/// @param before  Whether one line belongs before another one.
template <typename Order, typename Before>
void measure_index_of(benchmark::State& state, text_lines const& lines, Order const& order,
                      Before before) {
  using outsize::detail::prefix_entry;
  std::vector<prefix_entry> given;
  for (std::size_t i = 0; i < lines.size(); ++i)
    given.push_back({.place = i, .prefix = order.prefix(lines[i])});
  auto const record = [&](std::uint64_t place) { return lines[place]; };
  auto const fetch = [&](std::uint64_t place, std::size_t depth) {
    __builtin_prefetch(lines.text().data() + lines.begin(place) + depth);
  };
  auto entries = given;
  measure(
      state, given.size(), [&] { entries = given; },
      [&] { outsize::detail::index_sort(order, record, fetch)(entries); },
      [&] {
        return std::ranges::is_sorted(entries, [&](auto const& a, auto const& b) {
          return before(record(a.place), record(b.place));
        });
      });
}

}  // namespace kernels
