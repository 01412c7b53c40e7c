// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A linked list on disk: blocks that know how many items they hold and which block comes next, in
// a cache of three. What a container of one's own would begin with.

#include <cstdint>
#include <iostream>
#include <utility>

#include <outsize/base/units.hpp>
#include <outsize/block/block_cache.hpp>
#include <outsize/block/block_list.hpp>
#include <outsize/block/typed_block.hpp>

struct fill {
  std::uint32_t used;
};
using chunk = outsize::block::typed_block<std::uint64_t, fill, 1>;
using const_chunk = outsize::block::typed_block<std::uint64_t const, fill, 1>;

int main() {
  using namespace outsize;
  storage store({.memory_bytes = 1_MiB});
  grant memory = store.memory().take(128_KiB, "list");
  block::block_list places(store, memory);
  block::block_cache cache(store, memory, {.block_bytes = 4_KiB, .block_count = 3});

  // Each new block goes in front of the others and is filled.
  block::block_id first;
  std::uint64_t next_item = 0;
  while (next_item < 50'000) {
    block::pinned_block pinned = cache.pin_new(places.append(4_KiB));
    chunk const c(pinned.change());
    for (auto& item : c) item = next_item++;
    c.info().used = static_cast<std::uint32_t>(c.size());
    c.links()[0] = std::exchange(first, pinned.id());
  }
  cache.flush();  // reports what could not be written

  std::uint64_t items = 0, sum = 0;
  for (block::block_id at = first; at;) {
    block::pinned_block const pinned = cache.pin(at);
    const_chunk const c(pinned.bytes());
    at = c.links()[0];
    if (at) cache.prefetch(at);  // while this one is summed up
    items += c.info().used;
    for (auto item : c.items().first(c.info().used)) sum += item;
  }
  std::cout << items << " items of sum " << sum << " in " << places.size() << " blocks\n"
            << cache.counts().write_backs << " writes, "
            << cache.counts().misses + cache.counts().prefetches << " reads\n";
}
