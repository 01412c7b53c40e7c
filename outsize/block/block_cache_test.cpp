// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A cached block costs one read and, if it was changed, one write; nothing that was changed is
// lost, whatever fails. Random use under every policy: tests/conformance.

#include <outsize/block/block_cache.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/detail/closed_memory.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/block_list.hpp>
#include <outsize/block/typed_block.hpp>
#include <outsize/io/decorators/counting_file.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::block {
namespace {

constexpr std::size_t block_bytes = 128;

struct cached_blocks : testing::Test {
  std::shared_ptr<io::io_tally> tally = std::make_shared<io::io_tally>();
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>();
  storage store{{.disks = {disk_options(
                     "counted",
                     [this](io::request_queue&) -> io::file_ptr {
                       return std::make_unique<io::counting_file>(
                           std::make_unique<io::faulty_file>(
                               io::make_memory_file("counted", 1_GiB, {.own_thread = true}), plan),
                           tally);
                     })},
                 .memory_bytes = 1_MiB,
                 .threads = 1}};
  grant memory = store.memory().take(64_KiB, "tree");
  block_list blocks{store, memory};
  std::uint64_t written_before = 0;

  /// Writes `count` blocks, block i filled with bytes i.
  void write_blocks(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<std::byte> const bytes(block_bytes, static_cast<std::byte>(i));
      store.write(blocks.append(bytes.size()), bytes)->wait();
    }
    written_before = tally->writes().requests;
  }

  std::uint64_t reads() const { return tally->reads().requests; }
  std::uint64_t writes() const { return tally->writes().requests - written_before; }

  int value_on_disk(std::size_t i) {
    std::vector<std::byte> bytes(block_bytes);
    store.read(blocks[i], bytes)->wait();
    return value_of(bytes);
  }
  /// The byte that all are alike, or -1.
  static int value_of(std::span<std::byte const> bytes) {
    bool const alike = std::ranges::all_of(bytes, [&](auto b) { return b == bytes[0]; });
    return alike ? std::to_integer<int>(bytes[0]) : -1;
  }
  static void set(pinned_block& block, int value) {
    std::ranges::fill(block.change(), static_cast<std::byte>(value));
  }
  void set(block_cache& cache, std::size_t i, int value) {
    auto block = cache.pin(blocks[i]);
    set(block, value);
  }
};

TEST_F(cached_blocks, are_read_once_and_then_found) {
  write_blocks(3);
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 3});
  for (int round = 0; round < 4; ++round)
    for (std::size_t i = 0; i < 3; ++i) {
      auto const block = cache.pin(blocks[i]);
      EXPECT_EQ(block.id(), blocks[i]);
      EXPECT_EQ(value_of(block.bytes()), static_cast<int>(i));
    }
  EXPECT_EQ(cache.counts(), (block_cache_counts{.hits = 9, .misses = 3}));
  EXPECT_EQ(reads(), 3U);
  cache.flush();
  EXPECT_EQ(writes(), 0U);
}

TEST_F(cached_blocks, leave_in_the_order_of_their_last_use_under_lru) {
  write_blocks(4);
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 3});
  for (std::size_t i : {0U, 1U, 2U, 0U, 3U}) cache.pin(blocks[i]);  // 1 leaves
  EXPECT_EQ(reads(), 4U);
  for (std::size_t i : {0U, 2U, 3U}) cache.pin(blocks[i]);
  EXPECT_EQ(reads(), 4U);
  cache.pin(blocks[1]);
  EXPECT_EQ(cache.counts(), (block_cache_counts{.hits = 4, .misses = 5}));
}

TEST_F(cached_blocks, go_round_all_buffers) {
  write_blocks(12);
  block_cache cache(store, memory,
                    {.block_bytes = block_bytes, .block_count = 2, .spare_count = 3});
  std::set<std::byte const*> places;
  for (std::size_t i = 0; i < 12; ++i) places.insert(cache.pin(blocks[i]).bytes().data());
  EXPECT_EQ(places.size(), 5U) << "memory is used again as late as possible";
}

TEST_F(cached_blocks, leave_their_bytes_where_they_were_when_they_get_other_memory) {
  write_blocks(4);
  block_cache cache(store, memory,
                    {.block_bytes = block_bytes, .block_count = 2, .former_count = 2});
  auto block = cache.pin(blocks[1]);
  std::vector<std::span<std::byte const>> places;
  for (int value = 50; value < 54; ++value) {
    set(block, value);
    places.push_back(block.bytes());
    cache.renew_memory(block, true);
    EXPECT_EQ(value_of(block.bytes()), value);
    if (value > 50) {
      EXPECT_EQ(value_of(places[places.size() - 2]), value - 1);
    }
    EXPECT_EQ(value_of(places.back()), value);
  }
  EXPECT_EQ(places[3].data(), places[0].data());  // which comes back when it is the oldest
  auto other = cache.pin(blocks[2]);
  set(other, 99);
  cache.renew_memory(other, false);
  set(other, 70);
  EXPECT_EQ(value_of(places[3]), 53);
  other.release();
  block.release();
  cache.pin(blocks[3]);
  cache.pin(blocks[0]);
  cache.flush();
  EXPECT_EQ(value_on_disk(1), 53);
  EXPECT_EQ(value_on_disk(2), 70);
}

TEST_F(cached_blocks, that_are_expected_stay_while_others_are_prefetched) {
  write_blocks(30);
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 4});
  for (std::size_t i = 0; i < 30; ++i) {
    cache.pin(blocks[i]);
    for (std::size_t next = i + 1; next < std::min<std::size_t>(i + 4, 30); ++next)
      cache.prefetch(blocks[next]);
  }
  EXPECT_EQ(reads(), 30U);
  EXPECT_EQ(cache.counts().prefetches + cache.counts().misses, 30U);
}

TEST_F(cached_blocks, cost_a_read_each_in_a_scan_and_a_write_each_if_changed) {
  write_blocks(50);
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 4});
  for (std::size_t i = 0; i < 50; ++i)
    for (int change = 0; change < 3; ++change) set(cache, i, static_cast<int>(i) + 100);
  cache.flush();
  EXPECT_EQ(reads(), 50U);
  EXPECT_EQ(writes(), 50U);
  EXPECT_EQ(cache.counts(), (block_cache_counts{.hits = 100, .misses = 50, .write_backs = 50}));
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(value_on_disk(i), static_cast<int>(i) + 100);
  cache.flush();
  EXPECT_EQ(writes(), 50U);
}

TEST_F(cached_blocks, begin_as_zeros_without_io_when_they_are_new) {
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 2});
  for (int i = 0; i < 5; ++i) {
    auto block = cache.pin_new(blocks.append(block_bytes));
    EXPECT_EQ(value_of(block.bytes()), 0);
    if (i % 2 == 1) set(block, i);
  }
  EXPECT_EQ(reads(), 0U);
  cache.flush();
  EXPECT_EQ(writes(), 5U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(value_on_disk(i), i % 2 == 1 ? i : 0);
}

TEST_F(cached_blocks, begin_as_zeros_of_any_length_where_others_were) {
  grant room = store.memory().take(320_KiB, "tree");
  block_cache cache(store, room, {.block_bytes = 100_KiB, .block_count = 2});
  for (std::size_t const length : {100_KiB, 4_KiB, 64_KiB, 64_KiB - 1, 64_KiB + 1, 100_KiB - 3}) {
    for (int i = 0; i < 2; ++i) {
      auto block = cache.pin_new(blocks.append(length));
      EXPECT_EQ(block.bytes().size(), length);
      EXPECT_EQ(value_of(block.bytes()), 0) << length;
      set(block, 77);
    }
  }
}

TEST_F(cached_blocks, of_several_lengths_and_types_share_a_cache) {
  block_cache cache(store, memory, {.block_bytes = 256, .block_count = 2});
  std::size_t const lengths[] = {256, 24, 100, 8, 72};
  for (std::size_t length : lengths) {
    auto block = cache.pin_new(blocks.append(length));
    typed_block<std::uint64_t> const items(block.change());
    std::ranges::fill(items.items(), length);
  }
  for (std::size_t i = 0; i < 5; ++i) {
    auto const block = cache.pin(blocks[i]);
    typed_block<std::uint64_t const> const items(block.bytes());
    EXPECT_EQ(items.size(), lengths[i] / 8);
    EXPECT_TRUE(std::ranges::all_of(items, [&](auto item) { return item == lengths[i]; }));
  }
}

TEST_F(cached_blocks, stay_where_they_are_while_any_handle_pins_them) {
  write_blocks(10);
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 2});
  auto first = cache.pin(blocks[0]);
  auto second = cache.pin(blocks[0]);
  EXPECT_EQ(cache.pinned_count(), 1U);
  auto const* const place = first.bytes().data();
  pinned_block moved(std::move(first));
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move)
  moved = std::move(second);
  EXPECT_TRUE(moved);
  for (std::size_t i = 1; i < 10; ++i) cache.pin(blocks[i]);
  EXPECT_EQ(moved.bytes().data(), place);
  EXPECT_EQ(value_of(moved.bytes()), 0);
  EXPECT_EQ(reads(), 10U);
  moved.release();
  EXPECT_EQ(cache.pinned_count(), 0U);
  for (std::size_t i = 1; i < 3; ++i) cache.pin(blocks[i]);
  cache.pin(blocks[0]);
  EXPECT_EQ(reads(), 13U);
}

using cached_blocks_death_test = cached_blocks;

TEST_F(cached_blocks_death_test, are_closed_to_those_who_do_not_pin_them) {
  if (!detail::notices_closed_memory()) GTEST_SKIP() << "noticed under AddressSanitizer only";
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the storage has threads
  write_blocks(5);
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 2});
  auto block = cache.pin(blocks[0]);
  std::byte volatile* const place = block.change().data();
  EXPECT_EQ(std::byte{*place}, std::byte{0});
  block.release();
  EXPECT_DEATH(static_cast<void>(*place), "use-after-poison");
  EXPECT_DEATH(*place = std::byte{1}, "use-after-poison");
  cache.flush();
  EXPECT_DEATH(static_cast<void>(*place), "use-after-poison");
  auto const again = cache.pin(blocks[0]);
  EXPECT_EQ(std::byte{*place}, std::byte{0});
}

TEST_F(cached_blocks, refuse_one_more_than_can_be_pinned_and_name_the_cache) {
  write_blocks(3);
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 2});
  auto const first = cache.pin(blocks[0]);
  auto second = cache.pin(blocks[1]);
  for (int attempt = 0; attempt < 3; ++attempt) try {
      cache.pin(blocks[2]);
      FAIL() << "three blocks are pinned in a cache of two";
    } catch (budget_error const& e) {
      EXPECT_EQ(std::string(e.what()), "tree: all 2 blocks of the cache are pinned");
      EXPECT_EQ(e.have_bytes(), 2 * block_bytes);
      EXPECT_EQ(e.need_bytes(), 3 * block_bytes);
    }
  EXPECT_THROW(cache.pin_new(blocks.append(block_bytes)), budget_error);
  cache.prefetch(blocks[2]);
  EXPECT_EQ(cache.counts().prefetches, 0U);
  EXPECT_EQ(value_of(cache.pin(blocks[1]).bytes()), 1);  // those that are there can be had
  second.release();
  EXPECT_EQ(value_of(cache.pin(blocks[2]).bytes()), 2);
}

TEST_F(cached_blocks, are_had_back_without_a_read_while_they_are_being_written) {
  write_blocks(3);
  plan->script(io::fault_point::write, 3, io::fault::hold(std::chrono::milliseconds(20)));
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 1});
  set(cache, 0, 100);
  cache.pin(blocks[1]);                                    // block 0 is leaving
  EXPECT_EQ(value_of(cache.pin(blocks[0]).bytes()), 100);  // and stays
  EXPECT_EQ(reads(), 2U);
  EXPECT_EQ(cache.counts().hits, 1U);
  EXPECT_EQ(value_on_disk(0), 100);
  cache.flush();
  EXPECT_EQ(writes(), 1U);
}

TEST_F(cached_blocks, are_on_their_way_after_a_prefetch) {
  write_blocks(4);
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 3});
  for (std::size_t i = 0; i < 3; ++i) cache.prefetch(blocks[i]);
  for (std::size_t i = 0; i < 3; ++i) cache.prefetch(blocks[i]);
  EXPECT_EQ(reads(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(value_of(cache.pin(blocks[i]).bytes()), static_cast<int>(i));
  EXPECT_EQ(cache.counts(), (block_cache_counts{.hits = 3, .prefetches = 3}));
  set(cache, 0, 100);
  cache.pin(blocks[1]);
  cache.pin(blocks[2]);
  cache.prefetch(blocks[3]);  // block 0 goes, by way of the spare buffer
  EXPECT_EQ(value_of(cache.pin(blocks[3]).bytes()), 3);
  EXPECT_EQ(cache.counts().prefetches, 4U);
  EXPECT_EQ(value_of(cache.pin(blocks[0]).bytes()), 100);
}

TEST_F(cached_blocks, tell_of_the_read_that_brings_them) {
  write_blocks(2);
  plan->script(io::fault_point::read, 0, io::fault::hold(std::chrono::milliseconds(20)));
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 2});
  EXPECT_FALSE(cache.reading(blocks[0]));
  cache.prefetch(blocks[0]);
  auto const reading = cache.reading(blocks[0]);
  ASSERT_TRUE(reading);
  EXPECT_TRUE(reading->wait_outcome().ok());
  EXPECT_FALSE(cache.reading(blocks[0])) << "it is here";
  EXPECT_EQ(value_of(cache.pin(blocks[0]).bytes()), 0);
  EXPECT_EQ(cache.counts().hits, 1U);
  set(cache, 1, 100);
  EXPECT_FALSE(cache.reading(blocks[1])) << "changed";
}

TEST_F(cached_blocks, are_not_prefetched_if_that_means_waiting) {
  write_blocks(2);
  block_cache cache(store, memory,
                    {.block_bytes = block_bytes, .block_count = 1, .spare_count = 0});
  set(cache, 0, 100);
  cache.try_prefetch(blocks[1]);
  EXPECT_EQ(cache.counts().prefetches, 0U);
  EXPECT_EQ(writes(), 0U);
  cache.pin(blocks[1]);
  EXPECT_EQ(value_on_disk(0), 100);
}

TEST_F(cached_blocks, that_are_surely_needed_wait_for_a_write_and_learn_of_its_error) {
  write_blocks(3);
  block_cache cache(store, memory,
                    {.block_bytes = block_bytes, .block_count = 1, .spare_count = 0});
  set(cache, 0, 100);
  plan->script(io::fault_point::write, plan->calls(io::fault_point::write), io::fault::fail(EIO));
  EXPECT_THROW(cache.prefetch(blocks[1]), io_error);
  EXPECT_EQ(cache.counts().prefetches, 0U);
  EXPECT_EQ(value_of(cache.pin(blocks[0]).bytes()), 100) << "it is still there";
  cache.prefetch(blocks[1]);
  EXPECT_EQ(cache.counts().prefetches, 1U);
  EXPECT_EQ(value_on_disk(0), 100);
  EXPECT_EQ(value_of(cache.pin(blocks[1]).bytes()), 1);
  EXPECT_EQ(cache.counts().misses, 1U);
}

TEST_F(cached_blocks, do_not_leave_for_each_other_while_they_are_being_read) {
  write_blocks(3);
  plan->script(io::fault_point::read, 0, io::fault::hold(std::chrono::milliseconds(100)), 3);
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 2});
  for (std::size_t i = 0; i < 3; ++i) cache.prefetch(blocks[i]);
  EXPECT_EQ(cache.counts().prefetches, 2U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(value_of(cache.pin(blocks[i]).bytes()), static_cast<int>(i));
  EXPECT_EQ(cache.counts(), (block_cache_counts{.hits = 2, .misses = 1, .prefetches = 2}));
}

TEST_F(cached_blocks, stay_readable_where_they_are_pinned_when_they_are_dropped) {
  write_blocks(3);
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 2});
  auto held = cache.pin(blocks[2]);
  set(held, 102);
  auto const dropped = blocks.back();
  cache.drop(dropped);
  blocks.free_back();
  EXPECT_EQ(value_of(held.bytes()), 102);
  auto const same_place = blocks.append(block_bytes);
  EXPECT_EQ(same_place, dropped);
  {
    auto fresh = cache.pin_new(same_place);
    EXPECT_EQ(value_of(fresh.bytes()), 0);
    set(fresh, 7);
    set(held, 103);
    EXPECT_EQ(cache.pinned_count(), 2U);
    EXPECT_THROW(cache.pin(blocks[0]), budget_error);
  }
  cache.flush();
  EXPECT_EQ(writes(), 1U);
  EXPECT_EQ(value_on_disk(2), 7);
  held.release();
  EXPECT_EQ(cache.pinned_count(), 0U);
  EXPECT_EQ(value_of(cache.pin(blocks[0]).bytes()), 0);
  EXPECT_EQ(value_of(cache.pin(blocks[2]).bytes()), 7);
}

TEST_F(cached_blocks, are_not_read_to_be_replaced) {
  write_blocks(2);
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 2});
  {
    auto block = cache.pin_to_replace(blocks[1]);
    set(block, 55);
  }
  EXPECT_EQ(value_of(cache.pin(blocks[1]).bytes()), 55);
  cache.flush();
  EXPECT_EQ(reads(), 0U);
  EXPECT_EQ(value_on_disk(1), 55);
}

TEST_F(cached_blocks, that_were_read_elsewhere_are_neither_read_nor_written) {
  write_blocks(2);
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 1});
  std::vector<std::byte> const content(block_bytes, std::byte{9});
  {
    auto const block = cache.pin_copy(blocks[0], content);
    EXPECT_EQ(value_of(block.bytes()), 9);
  }
  { auto const other = cache.pin(blocks[1]); }
  cache.flush();
  EXPECT_EQ(reads(), 1U);
  EXPECT_EQ(writes(), 0U);
  EXPECT_EQ(cache.counts(), (block_cache_counts{.hits = 1, .misses = 1, .prefetches = 1}));
}

TEST_F(cached_blocks, are_written_to_the_place_that_they_were_moved_to) {
  write_blocks(2);
  auto const other = blocks.append(block_bytes);
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 2});
  {
    auto block = cache.pin(blocks[1]);
    cache.move(block, other);
    EXPECT_EQ(block.id(), other);
  }
  EXPECT_FALSE(cache.holds(blocks[1]));
  EXPECT_TRUE(cache.holds(other));
  set(cache, 2, 7);
  EXPECT_EQ(reads(), 1U);
  cache.flush();
  EXPECT_EQ(writes(), 1U);
  EXPECT_EQ(value_on_disk(1), 1);
  EXPECT_EQ(value_on_disk(2), 7);
}

TEST_F(cached_blocks, can_be_dropped_with_their_changes_and_freed) {
  write_blocks(3);
  plan->script(io::fault_point::write, 3, io::fault::hold(std::chrono::milliseconds(5)));
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 2});
  set(cache, 2, 102);
  cache.prefetch(blocks[1]);
  cache.pin(blocks[0]);  // block 2 is leaving, block 1 may be on its way
  for (int i = 0; i < 3; ++i) {
    cache.drop(blocks.back());
    cache.drop(blocks.back());
    blocks.free_back();
  }
  cache.flush();
  EXPECT_LE(writes(), 1U);
  EXPECT_EQ(value_of(cache.pin_new(blocks.append(block_bytes)).bytes()), 0);
}

TEST_F(cached_blocks, can_be_changed_further_after_a_flush_while_they_are_pinned) {
  write_blocks(1);
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 1});
  {
    auto block = cache.pin(blocks[0]);
    auto const content = block.change();
    std::ranges::fill(content, std::byte{100});
    cache.flush();
    EXPECT_EQ(value_on_disk(0), 100);
    std::ranges::fill(content, std::byte{101});
  }
  cache.flush();
  EXPECT_EQ(value_on_disk(0), 101);
  cache.flush();
  EXPECT_EQ(writes(), 2U);
}

TEST_F(cached_blocks, survive_the_failed_write_that_a_pin_forced) {
  write_blocks(3);
  plan->script(io::fault_point::write, 3, io::fault::fail(ENOSPC), 2);
  block_cache cache(store, memory,
                    {.block_bytes = block_bytes, .block_count = 1, .spare_count = 0});
  set(cache, 0, 100);
  for (int attempt = 0; attempt < 2; ++attempt) try {
      cache.pin(blocks[1]);
      FAIL() << "a failed write was not noticed";
    } catch (io_error const& e) {
      EXPECT_EQ(e.code().value(), ENOSPC);
      EXPECT_EQ(e.operation(), "write");
      EXPECT_EQ(e.offset_bytes(), blocks[0].offset_bytes);
    }
  EXPECT_EQ(value_of(cache.pin(blocks[0]).bytes()), 100);
  EXPECT_EQ(value_of(cache.pin(blocks[1]).bytes()), 1);  // the disk is well again
  EXPECT_EQ(value_on_disk(0), 100);
  EXPECT_EQ(cache.counts().write_backs, 3U);
}

TEST_F(cached_blocks, survive_failed_writes_that_a_flush_reports) {
  write_blocks(3);
  plan->script(io::fault_point::write, 4, io::fault::fail(EIO));
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 3});
  for (std::size_t i = 0; i < 3; ++i) set(cache, i, 100 + static_cast<int>(i));
  EXPECT_THROW(cache.flush(), io_error);
  EXPECT_EQ(writes(), 3U);  // the others are on disk
  cache.flush();
  EXPECT_EQ(writes(), 4U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(value_on_disk(i), 100 + static_cast<int>(i));
}

TEST_F(cached_blocks, report_a_failed_write_in_the_background_once_its_buffer_is_needed) {
  write_blocks(4);
  plan->script(io::fault_point::write, 4, io::fault::fail(EIO));
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 1});
  set(cache, 0, 100);
  set(cache, 1, 101);  // block 0 is leaving, and fails
  EXPECT_THROW(cache.pin(blocks[2]), io_error);
  EXPECT_EQ(value_of(cache.pin(blocks[2]).bytes()), 2);
  EXPECT_EQ(value_of(cache.pin(blocks[0]).bytes()), 100);
  EXPECT_EQ(value_of(cache.pin(blocks[1]).bytes()), 101);
  cache.flush();
  EXPECT_EQ(value_on_disk(0), 100);
  EXPECT_EQ(value_on_disk(1), 101);
}

struct neighbours : cached_blocks {
  static constexpr block_cache_options in_groups{.block_bytes = block_bytes,
                                                 .block_count = 8,
                                                 .spare_count = 2,
                                                 .write_bytes = 4 * block_bytes};
  block_cache cache{store, memory, in_groups};

  void change_first(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) set(cache, i, 100 + static_cast<int>(i));
  }
};

TEST_F(neighbours, are_written_with_one_that_leaves_and_stay) {
  write_blocks(10);
  change_first(8);
  cache.pin(blocks[8]);  // 0 leaves, with 1, 2 and 3
  cache.pin(blocks[9]);  // 1 leaves
  EXPECT_EQ(writes(), 1U);
  EXPECT_EQ(cache.counts().write_backs, 4U);
  for (std::size_t i = 2; i < 8; ++i) EXPECT_EQ(value_of(cache.pin(blocks[i]).bytes()), 100 + i);
  EXPECT_EQ(reads(), 10U);
  cache.flush();
  EXPECT_EQ(writes(), 2U) << "the other four";
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(value_on_disk(i), 100 + static_cast<int>(i));
}

TEST_F(neighbours, are_written_again_if_they_are_changed_meanwhile) {
  write_blocks(9);
  change_first(8);
  plan->script(io::fault_point::write, plan->calls(io::fault_point::write),
               io::fault::hold(std::chrono::milliseconds(5)));
  cache.pin(blocks[8]);
  set(cache, 2, 50);
  cache.flush();
  EXPECT_EQ(value_on_disk(2), 50);
  EXPECT_EQ(value_on_disk(3), 103);
}

TEST_F(neighbours, wait_for_a_slow_disk_rather_than_leave_one_by_one) {
  constexpr std::size_t count = 32;
  write_blocks(3 * count);
  block_cache large(store, memory,
                    {.block_bytes = block_bytes,
                     .block_count = count,
                     .spare_count = count,
                     .write_bytes = 4 * block_bytes});
  for (std::size_t i = 0; i < count; ++i) set(large, i, 100 + static_cast<int>(i));
  plan->script(io::fault_point::write, plan->calls(io::fault_point::write),
               io::fault::hold(std::chrono::milliseconds(10)), count);
  for (std::size_t i = 0; i < count; ++i) large.try_prefetch(blocks[count + i]);
  EXPECT_EQ(writes(), div_up<std::uint64_t>(large.counts().prefetches, 4)) << "or nobody leaves";
  for (std::size_t i = 0; i < count; ++i) large.prefetch(blocks[2 * count + i]);
  EXPECT_EQ(writes(), count / 4);
  large.flush();
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(value_on_disk(i), 100 + static_cast<int>(i));
}

TEST_F(neighbours, that_are_pinned_are_left_out) {
  write_blocks(9);
  change_first(8);
  auto const pinned = cache.pin(blocks[1]);
  cache.pin(blocks[8]);  // 0 leaves
  EXPECT_EQ(cache.counts().write_backs, 1U);
}

TEST_F(neighbours, are_changed_still_if_their_write_fails) {
  write_blocks(10);
  change_first(8);
  plan->script(io::fault_point::write, plan->calls(io::fault_point::write), io::fault::fail(EIO));
  cache.pin(blocks[8]);
  EXPECT_THROW(cache.flush(), io_error) << "of the one that left";
  cache.flush();
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(value_on_disk(i), 100 + static_cast<int>(i));
}

TEST_F(neighbours, are_written_though_one_is_dropped) {
  write_blocks(9);
  change_first(8);
  plan->script(io::fault_point::write, plan->calls(io::fault_point::write),
               io::fault::hold(std::chrono::milliseconds(5)));
  cache.pin(blocks[8]);
  cache.drop(blocks[2]);
  cache.flush();
  for (std::size_t i : {0U, 1U, 3U, 4U}) EXPECT_EQ(value_on_disk(i), 100 + static_cast<int>(i));
}

TEST_F(cached_blocks, that_cannot_be_read_are_not_pinned) {
  write_blocks(2);
  plan->script(io::fault_point::read, 0, io::fault::fail(EIO), 2);
  block_cache cache(store, memory, {.block_bytes = block_bytes, .block_count = 1});
  EXPECT_THROW(cache.pin(blocks[0]), io_error);
  cache.prefetch(blocks[1]);
  EXPECT_THROW(cache.pin(blocks[1]), io_error);
  EXPECT_EQ(cache.pinned_count(), 0U);
  EXPECT_EQ(value_of(cache.pin(blocks[1]).bytes()), 1);
  auto beyond = blocks[0];
  beyond.offset_bytes = 1_GiB;  // where the file has ended
  EXPECT_THROW(cache.pin(beyond), io_error);
}

TEST_F(cached_blocks, take_their_memory_from_the_grant) {
  std::uint64_t const free_bytes = memory.free_bytes();
  {
    block_cache const cache(store, memory, {.block_bytes = 4000, .block_count = 3});
    EXPECT_EQ(memory.free_bytes(), free_bytes - 4 * 4096);  // 4032 each, in whole pages
  }
  EXPECT_EQ(memory.free_bytes(), free_bytes);
  EXPECT_THROW(block_cache(store, memory, {.block_bytes = 4096, .block_count = 16}), budget_error);
}

}  // namespace
}  // namespace outsize::block
