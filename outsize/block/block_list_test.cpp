// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A list owns its blocks: at either end, when it moves, and when something fails.

#include <outsize/block/block_list.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::block {
namespace {

disk_options memory_disk(std::uint64_t capacity_bytes = UINT64_MAX) {
  disk_options disk("memory", [](io::request_queue&) { return io::make_memory_file("memory"); });
  disk.capacity_bytes = capacity_bytes;
  return disk;
}

struct lists_of_blocks : testing::Test {
  storage store{{.disks = {memory_disk(), memory_disk(), memory_disk()},
                 .memory_bytes = 1_MiB,
                 .threads = 1}};
  grant memory = store.memory().take(4096, "test");
};

TEST_F(lists_of_blocks, spread_over_the_disks) {
  block_list blocks(store, memory);
  EXPECT_TRUE(blocks.empty());
  std::set<std::uint32_t> disks;
  for (int i = 0; i < 3; ++i) disks.insert(blocks.append(100).disk);
  EXPECT_EQ(disks.size(), 3U);
}

TEST_F(lists_of_blocks, go_where_their_placement_says) {
  storage one_disk({.disks = {memory_disk()}, .memory_bytes = 1_MiB, .threads = 1});
  block_list blocks(store, memory, one_disk.new_placement());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(blocks.append(100).disk, 0U);
}

TEST_F(lists_of_blocks, own_what_the_model_holds_until_it_is_taken_away) {
  std::uint64_t const seed = 71;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  block_list blocks(store, memory);
  std::deque<block_id> model;
  for (int step = 0; step < 500; ++step) {
    switch (random() % 5) {
      case 0:
        if (model.empty()) break;
        blocks.free_front();
        model.pop_front();
        break;
      case 1:
        if (model.empty()) break;
        blocks.free_back();
        model.pop_back();
        break;
      default:
        if (model.size() == 100) break;
        model.push_back(blocks.append(1 + random() % 300));
    }
    ASSERT_TRUE(std::ranges::equal(blocks, model));
    std::uint64_t bytes = 0;
    std::size_t longest = 0;
    for (block_id id : model) {
      bytes += id.length_bytes;
      longest = std::max<std::size_t>(longest, id.length_bytes);
    }
    EXPECT_EQ(store.allocated_bytes(), bytes);
    EXPECT_EQ(blocks.longest_bytes(), longest);
    EXPECT_EQ(memory.free_bytes(), 4096 - model.size() * sizeof(block_id));
    if (!model.empty()) {
      EXPECT_EQ(blocks.front(), model.front());
      EXPECT_EQ(blocks.back(), model.back());
      EXPECT_EQ(blocks[model.size() / 2], model[model.size() / 2]);
    }
  }
  blocks.clear();
  EXPECT_EQ(store.allocated_bytes(), 0U);
  EXPECT_EQ(memory.free_bytes(), 4096U);
}

TEST_F(lists_of_blocks, are_freed_once_when_they_move) {
  block_list target(store, memory);
  target.append(1000);
  {
    block_list source(store, memory);
    block_id const first = source.append(100);
    block_list between(std::move(source));
    EXPECT_EQ(between.front(), first);
    target = std::move(between);
    EXPECT_EQ(target.front(), first);
  }
  EXPECT_EQ(store.allocated_bytes(), 100U);
  target.append(50);
  EXPECT_EQ(target.size(), 2U);
  target = block_list(store, memory);
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

TEST_F(lists_of_blocks, are_as_they_were_when_memory_or_disk_is_full) {
  grant little = store.memory().take(3 * sizeof(block_id), "little");
  block_list blocks(store, little);
  for (int i = 0; i < 3; ++i) blocks.append(100);
  EXPECT_THROW(blocks.append(100), budget_error);
  EXPECT_EQ(blocks.size(), 3U);
  EXPECT_EQ(store.allocated_bytes(), 300U);

  storage small({.disks = {memory_disk(1000)}, .memory_bytes = 1_MiB, .threads = 1});
  block_list full(small, memory);
  full.append(900);
  EXPECT_THROW(full.append(200), out_of_space);
  EXPECT_EQ(full.size(), 1U);
  EXPECT_EQ(memory.free_bytes(), 4096 - sizeof(block_id));
}

TEST_F(lists_of_blocks, may_have_blocks_without_space) {
  storage tight({.disks = {memory_disk(3 * 512)}, .memory_bytes = 1_MiB, .threads = 1});
  block_list blocks(tight, memory);
  for (int i = 0; i < 2; ++i) {
    blocks.append_empty();
    blocks.prepend_empty();
  }
  EXPECT_EQ(blocks.size(), 4U);
  EXPECT_EQ(blocks.empty_count(), 4U);
  EXPECT_EQ(tight.allocated_bytes(), 0U);
  for (std::size_t const i : {2, 0, 3}) EXPECT_TRUE(blocks.fill(i, 512));
  EXPECT_THROW(blocks.fill(1, 512), out_of_space);
  EXPECT_FALSE(blocks[1]);
  blocks.vacate(0);
  EXPECT_TRUE(blocks.fill(1, 512));
  EXPECT_EQ(blocks.empty_count(), 1U);
  block_list moved = std::move(blocks);
  EXPECT_EQ(moved.empty_count(), 1U);
  moved.free_front();
  EXPECT_EQ(moved.empty_count(), 0U);
  EXPECT_EQ(tight.allocated_bytes(), 3 * 512U);
  moved.clear();
  EXPECT_EQ(tight.allocated_bytes(), 0U);
  EXPECT_EQ(memory.free_bytes(), memory.total_bytes());
}

TEST(block_list_death_test, asserts_that_it_was_not_moved_from) {
  auto const misuse = [](auto use) {
    storage store({.disks = {memory_disk()}, .memory_bytes = 1_MiB, .threads = 1});
    grant memory = store.memory().take(4096, "test");
    block_list from(store, memory);
    block_list const to = std::move(from);
    use(from);
  };
  EXPECT_DEATH(misuse([](block_list& from) { from.append(512); }), "moved from");
  EXPECT_DEATH(misuse([](block_list& from) { std::ignore = from.empty(); }), "moved from");
}

}  // namespace
}  // namespace outsize::block
