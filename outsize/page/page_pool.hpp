// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Memory for the pages of many containers at once: those of all that are used lie in one cache, so
// that a container that is not used needs none. Layer: page.
// Source: STXXL 2008, section 5.2 (stacks with shared pools).

#include <cstddef>
#include <memory>
#include <optional>

#include <outsize/base/assert.hpp>
#include <outsize/block/placement.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/page/detail/page_cache.hpp>
#include <outsize/page/detail/page_row.hpp>
#include <outsize/page/page_options.hpp>

namespace outsize {

class page_pool;
page_pool matrix_pool(storage& store, std::uint64_t memory_bytes);

namespace detail {

/// The pages of a new container that shares the pool's memory. @param before  As for
/// pages_on_disks(). @param page_bytes  Of one; 0: as long as the pool's.
/// @throws std::invalid_argument if an item, or such a page, is longer than a page of the pool;
/// io_error.
std::shared_ptr<page_row> pages_in_pool(page_pool const& pool, std::size_t item_bytes,
                                        std::uint64_t before = 0, std::size_t page_bytes = 0);

}  // namespace detail

/// What containers share that are made with it.
///
///     page_pool pool(store, {.page_bytes = 64_KiB, .cache_pages = 100});
///     std::vector<outsize::stack<item>> buckets;
///     for (int i = 0; i < 10'000; ++i) buckets.emplace_back(pool);
///
/// The containers are used by one thread at a time, all together; only const access may have
/// company. A reference into any of them is valid until live_pages() - 1 other pages of all of them
/// have been touched by references.
///
/// I/Os:    None for what fits in the cache. A container that is used again after its pages had to
///          leave for others' pays a read for its page, and one that takes its turn with fewer than
///          cache_pages / 2 others what it would alone.
/// It may go before the containers, which share what it consists of; copies of it do so, too. One
/// that was moved from can only be assigned to or destroyed, which is asserted.
///
/// Memory:  as one vector has for its pages, or what the options name until the pool and the
///          containers are gone; for each container 17 bytes for each page on disk, and beside the
///          budget about 2 KiB.
/// Checked: outsize/container/page_pool_test.cpp.
class page_pool {
 public:
  /// On the disks of `store`, which must outlive it and all containers. Where more containers
  /// shrink in turn than the cache has room for, read_ahead_pages should be few.
  /// @throws budget_error, io_error; std::invalid_argument (placement).
  explicit page_pool(storage& store, page_options const& options = {});

  storage& store() const noexcept { return *store_; }
  /// Whether the other one is a copy of this: they have the same memory.
  bool is_same(page_pool const& other) const noexcept { return cache_ == other.cache_; }
  std::size_t page_bytes() const noexcept { return cache().page_bytes(); }
  std::size_t cache_pages() const noexcept { return cache().cache_pages(); }
  std::size_t live_pages() const noexcept { return cache().live_pages(); }
  /// What the cache has done, for all of them.
  block::block_cache_counts cache_counts() const;

 private:
  friend std::shared_ptr<detail::page_row> detail::pages_in_pool(page_pool const&, std::size_t,
                                                                 std::uint64_t, std::size_t);
  friend page_pool matrix_pool(storage&, std::uint64_t);
  page_pool(storage& store, std::shared_ptr<detail::page_cache> cache);

  detail::page_cache& cache() const noexcept {
    OUTSIZE_ASSERT(cache_ != nullptr && "used after it was moved from");
    return *cache_;
  }

  storage* store_;
  std::optional<block::placement_options> placement_;
  std::shared_ptr<detail::page_cache> cache_;
};

}  // namespace outsize
