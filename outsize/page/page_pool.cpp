// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/page/page_pool.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <tuple>

#include <outsize/page/detail/disk_pages.hpp>
#include <outsize/page/detail/page_space.hpp>

namespace outsize {

page_pool::page_pool(storage& store, page_options const& options)
    : store_(&store),
      placement_(options.placement),
      cache_(detail::cache_of_pages(store, store, detail::page_bytes_on_disks(store, 1, options),
                                    options, "page pool")) {
  std::ignore = detail::placement_of(store, placement_);  // so that it is refused here
}

page_pool::page_pool(storage& store, std::shared_ptr<detail::page_cache> cache)
    : store_(&store), cache_(std::move(cache)) {}

block::block_cache_counts page_pool::cache_counts() const {
  std::lock_guard const lock(cache().mutex());
  return cache().blocks().counts();
}

}  // namespace outsize

namespace outsize::detail {

std::shared_ptr<page_row> pages_in_pool(page_pool const& pool, std::size_t item_bytes,
                                        std::uint64_t before, std::size_t page_bytes) {
  if (page_bytes == 0) page_bytes = pool.page_bytes();
  if (std::size_t const longest = std::max(item_bytes, page_bytes); longest > pool.page_bytes())
    throw std::invalid_argument(fmt::format(
        "{} bytes do not fit in a page of the pool, which has {}", longest, pool.page_bytes()));
  auto space = std::make_unique<disk_pages>(*pool.store_, page_bytes,
                                            placement_of(*pool.store_, pool.placement_),
                                            first_page_behind(before, page_bytes / item_bytes));
  return std::make_shared<page_row>(*pool.store_, std::move(space), pool.cache_, page_bytes);
}

}  // namespace outsize::detail
