// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Counts the different values among a million numbers: push them, sort, pull them in order.
//
// The sorter gets 4 MiB, half of what the numbers take, so part of the work passes through the
// disk.

#include <cstdint>
#include <iostream>

#include <outsize/algorithm/sorter.hpp>
#include <outsize/block/storage.hpp>

int main() {
  using namespace outsize::literals;
  outsize::storage store({.memory_bytes = 4_MiB});
  outsize::sorter<std::uint64_t> numbers(store);

  std::uint64_t state = 1;
  for (int i = 0; i < 1'000'000; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    numbers.push(state >> 45);
  }
  numbers.sort();

  std::uint64_t different = 0;
  std::uint64_t last = 0;
  for (; !numbers.empty(); ++numbers) {
    if (different == 0 || *numbers != last) ++different;
    last = *numbers;
  }
  std::cout << numbers.size() << " numbers, " << different << " different\n"
            << "runs on disk: " << (numbers.report().runs > 0 ? "yes" : "no") << '\n';
}
