// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Adds up what belongs together: a million sales become one sum for each of a thousand shops.
//
// Items of the same key are combined as soon as they meet in memory, so that what goes to disk is
// a thousand items for each chunk of memory, and not a million.

#include <cstdint>
#include <iostream>
#include <iterator>
#include <vector>

#include <outsize/algorithm/reduce_by_key.hpp>
#include <outsize/block/storage.hpp>

struct sale {
  std::uint64_t shop;
  std::uint64_t cents;
};

int main() {
  using namespace outsize;
  storage store({.memory_bytes = 4_MiB});
  std::vector<sale> sales;
  for (std::uint64_t i = 0; i < 1'000'000; ++i) sales.push_back({i * 31 % 1000, i % 100});

  auto const add = [](sale const& a, sale const& b) { return sale{a.shop, a.cents + b.cents}; };
  auto const report = reduce_by_key(store, sales, into("sums"), by(&sale::shop), add);
  std::cout << report.items << " sales, " << report.output_items
            << " sums; written to disk: " << (report.run_items < report.items / 10 ? "few" : "many")
            << '\n';

  // The keys alone: of each shop the first sale.
  std::vector<sale> first;
  sort_unique(store, sales, std::back_inserter(first), in_input_order(by(&sale::shop)));
  std::cout << first.size() << " shops, the last is " << first.back().shop << '\n';
}
