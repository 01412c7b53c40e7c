// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A deque on disk: both ends, and all between.

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <utility>

#include <outsize/base/units.hpp>
#include <outsize/container/deque.hpp>

int main() {
  using namespace outsize;
  storage store({.memory_bytes = 16_MiB});

  outsize::deque<std::uint64_t> numbers(store);
  for (std::uint64_t i = 0; i < 500'000; ++i) {
    numbers.push_front(499'999 - i);
    numbers.push_back(500'000 + i);
  }
  if (numbers[123'456] != 123'456) return 1;

  // An iterator stays at its item, whatever comes or goes at the ends.
  auto const& fixed = std::as_const(numbers);  // constant access: nothing is written
  auto const place = std::ranges::lower_bound(fixed, 700'000U);
  for (int i = 0; i < 600'000; ++i) numbers.pop_front();
  if (*place != 700'000 || place - fixed.begin() != 100'000) return 1;

  std::cout << numbers.size() << " numbers from " << numbers.front() << " to " << numbers.back()
            << '\n';
}
