// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Stacks on disk: one at the speed of the disks, one in little memory, thousands that share their
// memory, and one that goes to disk only if it grows.

#include <cstdint>
#include <iostream>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/container/migrating_stack.hpp>
#include <outsize/container/stack.hpp>
#include <outsize/page/page_pool.hpp>

int main() {
  using namespace outsize;
  storage store({.memory_bytes = 16_MiB});

  // Written behind while it grows, read ahead while it shrinks.
  outsize::stack<std::uint64_t> squares(store);
  for (std::uint64_t i = 0; i < 1'000'000; ++i) squares.push(i * i);
  for (std::uint64_t i = 1'000'000; i-- > 0; squares.pop())
    if (squares.top() != i * i) return 1;

  // The same with four pages of memory, which waits for each page.
  outsize::stack<std::uint64_t> small(store, without_overlap({.page_bytes = 16_KiB}));

  // Stacks that are not used need none of the pool's pages.
  page_pool pool(store, {.page_bytes = 4_KiB, .cache_pages = 64});
  std::vector<outsize::stack<std::uint64_t>> buckets;
  for (int i = 0; i < 2000; ++i) buckets.emplace_back(pool);

  // In memory until it has 10,000 items, and again when it has half as many.
  outsize::migrating_stack<std::uint64_t> path(store, 10'000);

  for (std::uint64_t i = 0; i < 100'000; ++i) small.push(i);
  std::cout << small.size() << " items, the last is " << small.top() << '\n';

  for (std::uint64_t i = 0; i < 1'000'000; ++i) buckets[i / 500].push(i);
  std::cout << buckets[1].size() << " items in a bucket, the last is " << buckets[1].top() << '\n';

  // The depth of a search is not known before: as long as it is small, there is no I/O at all.
  bool was_on_disk = false;
  for (std::uint64_t node = 0; node < 100'000; ++node) {
    path.push(node);
    was_on_disk |= !path.is_in_memory();
  }
  while (path.size() > 1'000) path.pop();
  std::cout << "top is " << path.top() << ", the path " << (was_on_disk ? "was" : "was never")
            << " on disk, and is " << (path.is_in_memory() ? "in memory" : "there still") << '\n';
}
