// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A hash table on disk: how often each number occurs, built, asked, changed without looking, and
// kept in a file.

#include <cstdint>
#include <iostream>
#include <optional>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/container/unordered_map.hpp>

int main() {
  using namespace outsize;
  using counts = outsize::unordered_map<std::uint64_t, std::uint32_t>;
  storage store({.memory_bytes = 16_MiB});

  // Built from items in any order: sorted, and written page by page.
  std::vector<map_item<std::uint64_t, std::uint32_t>> items;
  for (std::uint64_t i = 0; i < 200'000; ++i) items.push_back({i * 7919 % 1'000'003, 1});
  auto table = counts::create("counts", store);
  table.build(items);
  ++table[7919];
  if (table.get(7919) != 2 || table.contains(1)) return 1;
  std::cout << table.size() << " keys, " << table.get(7919).value() << " of 7919\n";

  // Many keys at once: their pages are read together.
  std::vector<std::uint64_t> const keys{7919, 1, 2 * 7919, 3 * 7919};
  std::vector<std::optional<std::uint32_t>> found(keys.size());
  table.find_many(keys, found);
  for (std::size_t i = 0; i < keys.size(); ++i)
    std::cout << keys[i] << ": " << found[i].value_or(0) << '\n';

  // Without a look at what is there: the pages are read and written in order, later.
  for (auto const& [key, count] : items)
    if (key % 2 == 1) table.erase_oblivious(key);
  for (std::uint64_t key = 0; key < 1000; ++key) table.insert_oblivious({key, 5});
  std::cout << "1 is there " << table.get(1).value() << " times\n";
  table.close();

  auto const again = counts::open("counts", store, io::access::read_only);
  std::uint64_t sum = 0;
  for (auto const& [key, count] : again) sum += count;
  std::cout << again.size() << " keys, " << sum << " in all, "
            << (again.was_closed() ? "closed" : "not closed") << '\n';
}
