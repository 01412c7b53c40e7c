// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A cache whose memory comes and goes holds what was put in, gives back what it says, and keeps
// what it needs; what cannot be written stays.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/block_cache.hpp>
#include <outsize/block/block_list.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::block {
namespace {

struct caches_of_changing_memory : testing::TestWithParam<std::size_t> {
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>();
  storage store{{.disks = {disk_options("faulty",
                                        [this](io::request_queue&) -> io::file_ptr {
                                          return std::make_unique<io::faulty_file>(
                                              io::make_memory_file("faulty", 1_GiB), plan);
                                        })},
                 .memory_bytes = 16_MiB,
                 .threads = 1}};
  grant index = store.memory().take(64_KiB, "index");
  grant memory = store.memory().take(0, "cache");
  block_list blocks{store, index};
  std::size_t const block_bytes = GetParam();
  std::vector<int> model;
  std::uint64_t const seed = std::random_device()();
  std::mt19937_64 draw{seed};

  block_cache_options options() const {
    return {.block_bytes = block_bytes,
            .block_count = 60,
            .spare_count = 20,
            .write_bytes = 4 * block_bytes,
            .former_count = 2,
            .least_count = 6};
  }
  /// Has the cache take the memory that it needs.
  void extend(block_cache& cache) {
    memory.extend(cache.growth_bytes());
    cache.grow();
    EXPECT_EQ(memory.free_bytes(), 0U);
  }
  std::uint64_t shrink(block_cache& cache, std::uint64_t bytes, give_cost most) {
    cache.shrink(bytes, most);
    return memory.shrink(UINT64_MAX);
  }
  void add(block_cache& cache) {
    auto const id = blocks.append(block_bytes);
    model.push_back(static_cast<int>(draw() % 256));
    auto block = cache.pin_new(id);
    std::ranges::fill(block.change(), static_cast<std::byte>(model.back()));
  }
  void change(block_cache& cache, std::size_t i) {
    model[i] = static_cast<int>(draw() % 256);
    auto block = cache.pin(blocks[i]);
    if (draw() % 3 == 0) cache.renew_memory(block, true);
    std::ranges::fill(block.change(), static_cast<std::byte>(model[i]));
  }
  void expect_model(block_cache& cache) {
    for (std::size_t i = 0; i < model.size(); ++i) {
      auto const block = cache.pin(blocks[i]);
      ASSERT_TRUE(std::ranges::all_of(
          block.bytes(), [&](std::byte b) { return b == static_cast<std::byte>(model[i]); }));
    }
  }
};

TEST_P(caches_of_changing_memory, begin_with_none_and_give_all_back_when_they_are_empty) {
  block_cache cache(store, memory, options());
  EXPECT_EQ(cache.buffer_count(), 0U);
  EXPECT_EQ(memory.total_bytes(), 0U);
  extend(cache);
  EXPECT_GE(cache.buffer_count(), 6U);
  EXPECT_GE(cache.capacity(), 5U);
  add(cache);
  std::uint64_t const has = memory.total_bytes();
  shrink(cache, UINT64_MAX, give_cost::written);
  EXPECT_EQ(memory.total_bytes(), has) << "no less than it needs";
  cache.drop(blocks[0]);
  shrink(cache, 1, give_cost::unused);
  EXPECT_EQ(memory.total_bytes(), 0U);
  EXPECT_EQ(cache.capacity(), 0U);
}

TEST_P(caches_of_changing_memory, grow_until_all_blocks_can_be_kept) {
  block_cache cache(store, memory, options());
  std::size_t capacity = 0;
  while (cache.growth_bytes() > 0) {
    extend(cache);
    EXPECT_GT(cache.capacity(), capacity);
    capacity = cache.capacity();
  }
  EXPECT_EQ(capacity, 60U);
  EXPECT_EQ(cache.buffer_count(), 80U);
  EXPECT_GE(memory.total_bytes(), block_cache::memory_bytes(store, options()));
}

/// Whose buffers come and go one by one, or few at a time.
struct caches_of_long_blocks : caches_of_changing_memory {};

TEST_P(caches_of_long_blocks, give_what_is_unused_then_what_is_on_disk_then_what_is_written) {
  block_cache cache(store, memory, options());
  while (cache.growth_bytes() > 0) extend(cache);
  for (int i = 0; i < 40; ++i) add(cache);
  auto const writes = cache.counts().write_backs;
  EXPECT_GT(shrink(cache, UINT64_MAX, give_cost::unused), 0U);
  EXPECT_EQ(cache.counts().write_backs, writes);
  EXPECT_EQ(shrink(cache, UINT64_MAX, give_cost::reread), 0U) << "all were changed";
  cache.flush();
  auto const flushed = cache.counts().write_backs;
  EXPECT_GT(shrink(cache, 10 * block_bytes, give_cost::reread), 0U);
  EXPECT_EQ(cache.counts().write_backs, flushed);
  for (int i = 0; i < 5; ++i) change(cache, static_cast<std::size_t>(i));
  EXPECT_GT(shrink(cache, UINT64_MAX, give_cost::written), 0U);
  EXPECT_GT(cache.counts().write_backs, flushed);
  expect_model(cache);
}

TEST_P(caches_of_long_blocks, keep_what_is_pinned_and_what_cannot_be_written) {
  block_cache cache(store, memory, options());
  while (cache.growth_bytes() > 0) extend(cache);
  for (int i = 0; i < 50; ++i) add(cache);
  {
    std::vector<pinned_block> pins;
    for (std::size_t i = 0; i < 50; ++i) pins.push_back(cache.pin(blocks[i]));
    shrink(cache, UINT64_MAX, give_cost::written);
    EXPECT_GE(cache.buffer_count(), 50U);
  }
  plan->script(io::fault_point::write, plan->calls(io::fault_point::write), io::fault::fail(EIO),
               3);
  EXPECT_THROW(shrink(cache, UINT64_MAX, give_cost::written), io_error);
  memory.shrink(UINT64_MAX);
  expect_model(cache);
  shrink(cache, UINT64_MAX, give_cost::written);
  expect_model(cache);
}

TEST_P(caches_of_changing_memory, hold_what_was_put_in_however_it_changes) {
  SCOPED_TRACE(seed);
  block_cache cache(store, memory, options());
  extend(cache);
  for (int i = 0; i < 3000; ++i) {
    switch (draw() % 8) {
      case 0:
        if (cache.growth_bytes() > 0) extend(cache);
        break;
      case 1:
        shrink(cache, draw() % (20 * block_bytes), static_cast<give_cost>(draw() % 3));
        if (cache.buffer_count() == 0) extend(cache);
        break;
      case 2:
        if (model.size() < 150) add(cache);
        break;
      case 3:
        if (!model.empty()) cache.prefetch(blocks[draw() % model.size()]);
        break;
      default:
        if (!model.empty()) change(cache, draw() % model.size());
    }
    if (model.empty()) add(cache);
    ASSERT_LE(memory.total_bytes(), 16_MiB);
    ASSERT_GE(cache.buffer_count(), 6U);
  }
  expect_model(cache);
  cache.flush();
}

INSTANTIATE_TEST_SUITE_P(blocks, caches_of_changing_memory,
                         testing::Values(64, 192, 1_KiB, 4_KiB, 12_KiB, 64_KiB),
                         [](auto const& one) { return std::to_string(one.param); });
INSTANTIATE_TEST_SUITE_P(blocks, caches_of_long_blocks,
                         testing::Values(1_KiB, 4_KiB, 12_KiB, 64_KiB),
                         [](auto const& one) { return std::to_string(one.param); });

}  // namespace
}  // namespace outsize::block
