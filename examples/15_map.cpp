// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A map larger than its memory, filled at once and searched: the locates of Listing 4 of the STXXL
// paper. It is kept in a file, and there again when that is opened.

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <optional>
#include <random>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/vector.hpp>

struct price {
  std::uint32_t cents;
  std::uint32_t day;
};

int main() {
  using namespace outsize;
  using prices = outsize::map<std::uint64_t, price>;
  storage store({.memory_bytes = 6_MiB});
  {
    outsize::vector<prices::value_type> entries(store);  // in any order
    for (std::uint64_t i = 0; i < 500'000; ++i)
      entries.push_back(
          {i * 7919 % 500'000 * 10, {std::uint32_t(i % 100), std::uint32_t(i % 365)}});

    auto map = prices::create("prices", store);
    map.build(entries, 0.7);  // leaves with room for what will be inserted
    map[12'345] = {99, 1};
    map.close();
  }

  auto const map = prices::open("prices", store, io::access::read_only);
  if (map.size() != 500'001 || map.at(12'345).cents != 99) return 1;
  std::cout << map.size() << " prices" << (map.was_closed() ? "" : ", after a crash") << '\n';

  // One search after another: each waits for its leaf.
  std::mt19937_64 random(1);
  int exact = 0;
  for (int i = 0; i < 1'000; ++i) {
    std::uint64_t const key = random() % 4'000'000;
    exact += map.lower_bound(key)->first == key;
  }
  std::cout << exact << " of 1000 random keys are there\n";

  // Many at once: each leaf is read once, and many at the same time.
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 20'000; ++i) keys.push_back(random() % 500'000 * 10 + i % 2);
  std::vector<std::optional<price>> found(keys.size());
  map.find_many(keys, found);
  std::cout << std::ranges::count_if(found, [](auto const& p) { return p.has_value(); })
            << " of 20000 are there\n";

  // In the order of the keys, from any place.
  auto from = map.lower_bound(12'340);
  for (int i = 0; i < 3; ++i, ++from)
    std::cout << from->first << ": " << from->second.cents << '\n';

  // All of them, leaf by leaf at the speed of the disk.
  std::uint64_t cents = 0;
  for (auto const& [number, what] : map.forward()) cents += what.cents;
  std::cout << cents << " cents in all\n";
}
