// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A set and a multiset on disk: keys in order, looked up, inserted and erased in batches.

#include <cstdint>
#include <iostream>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/set.hpp>

int main() {
  using namespace outsize;
  storage store({.memory_bytes = 8_MiB});
  std::vector<std::uint64_t> visits;
  for (std::uint64_t i = 0; i < 200'000; ++i) visits.push_back(i * i % 100'003);

  outsize::set<std::uint64_t> visitors(store);  // each key once
  outsize::multiset<std::uint64_t> all(store);  // as often as it was inserted
  std::uint64_t const fresh = visitors.insert_many(visits);
  all.insert_many(visits);
  if (fresh != visitors.size() || all.size() != visits.size()) return 1;

  // The last keys below 1000, from the greatest down.
  auto at = std::as_const(visitors).lower_bound(1'000);
  for (int i = 0; i < 3; ++i) std::cout << *--at << ": " << all.count(*at) << " visits\n";

  // Whoever came less often than that is erased from both, leaf by leaf.
  std::vector<std::uint64_t> rare;
  for (auto in = all.forward(); !in.empty();) {
    std::uint64_t const key = *in;
    int visits_of_key = 0;
    for (; !in.empty() && *in == key; ++in) ++visits_of_key;
    if (visits_of_key <= 3) rare.push_back(key);
  }
  visitors.erase_many(rare);
  all.erase_many(rare);
  std::cout << visitors.size() << " visitors came more than 3 times, " << all.size()
            << " times in all\n";
}
