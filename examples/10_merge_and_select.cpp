// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Sorted files become one by merging; and two questions that need no sort at all: what is in the
// middle, and what comes first.

#include <cstdint>
#include <functional>
#include <iostream>
#include <iterator>
#include <vector>

#include <outsize/algorithm/is_sorted.hpp>
#include <outsize/algorithm/merge.hpp>
#include <outsize/algorithm/nth_element.hpp>
#include <outsize/algorithm/sort.hpp>
#include <outsize/algorithm/top_k.hpp>
#include <outsize/block/storage.hpp>

int main() {
  using namespace outsize;
  using numbers = item_file<std::uint64_t>;
  storage store({.memory_bytes = 4_MiB});
  std::vector<std::uint64_t> days[3];
  for (std::uint64_t i = 0; i < 900'000; ++i) days[i % 3].push_back(i * 7919 % 1'000'003);

  numbers const files[] = {{"monday"}, {"tuesday"}, {"wednesday"}};
  for (int d = 0; d < 3; ++d) sort(store, days[d], into(files[d].path));
  auto const report = merge(store, files, into("days"));
  std::cout << report.items << " numbers, "
            << (is_sorted(store, numbers{"days"}) ? "sorted" : "not sorted") << '\n';

  std::cout << "median: " << nth_element(store, numbers{"days"}, report.items / 2) << '\n';
  std::vector<std::uint64_t> greatest;
  top_k(store, numbers{"days"}, std::back_inserter(greatest), 3, std::greater<>());
  std::cout << "greatest:";
  for (auto const x : greatest) std::cout << ' ' << x;
  std::cout << '\n';
}
