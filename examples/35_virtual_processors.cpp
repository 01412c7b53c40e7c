// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A parallel program for 16 processors, each with memory of its own, on a machine whose memory
// holds four of them: the others wait on disk. Each exchange ends a superstep. PEMS, 2007.

#include <cstdint>
#include <iostream>
#include <span>

#include <outsize/base/units.hpp>
#include <outsize/bsp/sample_sort.hpp>
#include <outsize/bsp/virtual_processors.hpp>

int main() {
  using namespace outsize;
  storage store({.memory_bytes = 24_MiB, .threads = 2});

  auto const report = bsp::run(store, 16, [](bsp::processor& p) {
    bsp::vector<std::uint64_t> mine(250'000);  // 2 MB of 32 in all
    std::uint64_t x = p.rank() + 1;
    for (std::uint64_t& number : mine) number = x = x * 6364136223846793005U + 1442695040888963407U;

    mine = bsp::sample_sort(p, std::move(mine));

    std::uint64_t const before = p.exclusive_scan(mine.size()).value_or(0);
    std::uint64_t const total = p.all_reduce(mine.size());
    if (before <= total / 2 && total / 2 < before + mine.size()) {
      std::cout << "the median of " << total << " numbers is " << mine[total / 2 - before] << '\n';
    }
  });
  std::cout << (report.total().swapped_in_bytes > 0 ? "contexts went to disk and came back\n"
                                                    : "all contexts stayed in memory\n");
}
