// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A linear flow, and the same with two of its operators on threads of their own.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iostream>

#include <outsize/base/units.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/stream/streams.hpp>

/// Adds up the numbers that pass.
struct checksum {
  std::uint64_t sum = 0;
  void operator()(std::uint64_t x) { sum += x; }
};

int main() {
  using namespace outsize::stream;
  using outsize::operator""_MiB;
  outsize::storage store({.memory_bytes = 16_MiB});
  auto const doubled = transform([](std::uint64_t x) { return 2 * x; });

  outsize::vector<std::uint64_t> numbers(store), sorted(store), again(store);
  run(store, counter(std::uint64_t{0}, 1'000'000) | shuffle(1) | into(numbers));

  checksum before;
  run(store, from(numbers) | inspect(std::ref(before)) | doubled | sort() | into(sorted));
  checksum also;
  run(store, from(numbers) | inspect(std::ref(also)) | async() | doubled | sort() | into(again));

  if (before.sum != also.sum || !(sorted == again)) return 1;
  std::cout << "checksum " << before.sum << ", last " << sorted.back() << '\n';
}
