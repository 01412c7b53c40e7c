// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// An index of words by their documents: a set that leaves out what is there twice, a multimap that
// has many entries of one key, and changes in batches.

#include <cstdint>
#include <iostream>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/set.hpp>

int main() {
  using namespace outsize;
  using word = std::uint64_t;
  using document = std::uint32_t;
  storage store({.memory_bytes = 8_MiB});

  outsize::set<word> known(store);
  outsize::multimap<word, document> index(store);

  // A batch brings each leaf to memory once, and many at the same time.
  std::vector<word> words;
  std::vector<map_item<word, document>> places;
  for (document d = 0; d < 1'000; ++d) {
    words.clear();
    places.clear();
    for (std::uint64_t i = 0; i < 100; ++i) {
      words.push_back((d + 1) * (i + 1) * 7919 % 20'011);
      places.push_back({words.back(), d});
    }
    known.insert_many(words);
    index.insert_many(places);
  }
  std::cout << known.size() << " words at " << index.size() << " places\n";

  // Entries of a key follow each other in the order of their insertion.
  auto const [first, last] = std::as_const(index).equal_range(14'984);
  std::cout << "word 14984 is in";
  for (auto at = first; at != last; ++at) std::cout << ' ' << at->second;
  std::cout << '\n';

  // What lies between two keys, from the greatest down.
  std::cout << "the last words before 1000:";
  auto at = known.lower_bound(1'000);
  for (int i = 0; i < 3; ++i) std::cout << ' ' << *--at;
  std::cout << '\n';

  // Words that are too frequent are left out of both.
  std::vector<word> frequent;
  for (word const one : known.forward())
    if (index.count(one) > 9) frequent.push_back(one);
  std::cout << frequent.size() << " words are frequent, ";
  std::cout << index.erase_many(frequent) << " places of them erased, ";
  known.erase_many(frequent);
  std::cout << known.size() << " words remain\n";
}
