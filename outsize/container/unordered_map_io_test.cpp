// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// What an unordered_map reads and writes is no more than its documentation says.

#include <outsize/container/unordered_map.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/testing/counted_storage.hpp>

namespace outsize {
namespace {

using numbers = unordered_map<std::uint64_t, std::uint64_t>;
using number_item = map_item<std::uint64_t, std::uint64_t>;

struct unordered_map_ios : testing::Test, scratch::counted_storage {
  unordered_map_ios() : counted_storage(8_MiB) {}

  numbers make() {
    return numbers(store, {.page_bytes = 4096, .cache_pages = 8, .pending_bytes = 400'000});
  }
  static std::vector<number_item> items(std::uint64_t count) {
    std::vector<number_item> made;
    for (std::uint64_t i = 0; i < count; ++i) made.push_back({i, i});
    return made;
  }
  /// Pages that have been looked at: reads, if none had been in the cache.
  static std::uint64_t looked_at(numbers const& map) {
    auto const [buckets, overflow] = map.cache_counts();
    return buckets.hits + buckets.misses + overflow.hits + overflow.misses;
  }
  /// At the default load at most two buckets in three have a page of overflow.
  static std::uint64_t most_pages(numbers const& map) { return map.bucket_count() * 5 / 3; }
  std::mt19937_64 random{7};
};

TEST_F(unordered_map_ios, of_a_lookup_are_one_read_and_seldom_two_at_all_sizes) {
  auto map = make();
  double worst_hit = 0, worst_miss = 0;
  std::uint64_t size = 0;
  for (std::uint64_t const next :
       {24'000U, 28'000U, 32'000U, 36'000U, 40'000U, 44'000U, 48'000U, 52'000U}) {
    for (; size < next; ++size) map.insert_oblivious({size, size});
    map.flush();
    EXPECT_LE(store.allocated_bytes() * 10, size * sizeof(number_item) * 17);
    auto const& fixed = std::as_const(map);
    auto const cost = [&](std::uint64_t first_key) {
      auto const before = looked_at(map);
      auto const reads_before = reads();
      for (int i = 0; i < 2000; ++i) std::ignore = fixed.contains(first_key + random() % size);
      EXPECT_LE(reads() - reads_before, looked_at(map) - before);
      return static_cast<double>(looked_at(map) - before) / 2000;
    };
    worst_hit = std::max(worst_hit, cost(0));
    worst_miss = std::max(worst_miss, cost(size));
  }
  EXPECT_LE(worst_hit, 1.1);
  EXPECT_LE(worst_miss, 1.1);
  EXPECT_GE(worst_hit, 1.0);
  RecordProperty("worst_hit", std::to_string(worst_hit));
  RecordProperty("worst_miss", std::to_string(worst_miss));
}

TEST_F(unordered_map_ios, of_an_insertion_are_a_lookup_and_a_write_of_what_changed) {
  auto map = make();
  map.build(items(40'000));
  map.flush();
  auto const reads_before = reads(), writes_before = writes();
  for (std::uint64_t i = 0; i < 4000; ++i) map.insert({100'000 + i, i});
  map.flush();
  // 1.1 reads; a bucket more for 175 insertions, with 2 reads and 3 writes.
  EXPECT_LE(reads() - reads_before, 4400U + 4000 / 175 * 2);
  EXPECT_LE(writes() - writes_before, 4400U + 4000 / 175 * 3);
}

TEST_F(unordered_map_ios, of_building_are_a_write_for_each_page_at_most) {
  auto map = make();
  map.build(items(50'000));
  map.flush();
  EXPECT_EQ(map.bucket_count(), (50'000 + 174) / 175);
  EXPECT_EQ(reads(), 0U);                               // what is sorted fits into memory
  EXPECT_LE(writes(), map.bucket_count() * 102 / 100);  // as all buckets are equally long
  auto const bytes = tally->writes().bytes;
  EXPECT_GE(bytes, map.bucket_count() * 4096);
  EXPECT_LE(bytes, map.bucket_count() * 4096 * 102 / 100);
}

TEST_F(unordered_map_ios, of_a_scan_are_a_read_for_each_page) {
  auto map = make();
  for (std::uint64_t i = 0; i < 40'000; ++i) map.insert_oblivious({i, i});
  map.flush();
  auto const reads_before = reads(), writes_before = writes();
  std::uint64_t sum = 0;
  for (auto const& [key, value] : std::as_const(map)) sum += value;
  EXPECT_EQ(sum, std::uint64_t{40'000} * 39'999 / 2);
  EXPECT_LE(reads() - reads_before, most_pages(map));
  EXPECT_GE(reads() - reads_before, map.bucket_count() - 10);
  EXPECT_EQ(writes(), writes_before);
  auto const [buckets, overflow] = map.cache_counts();
  EXPECT_GE(buckets.prefetches, map.bucket_count() * 9 / 10) << "ahead of their use";
}

TEST_F(unordered_map_ios, of_oblivious_operations_are_none_until_all_are_done_in_order) {
  auto map = make();
  map.build(items(50'000));
  map.flush();
  auto const buckets = map.bucket_count();
  auto const reads_before = reads(), writes_before = writes();
  for (std::uint64_t i = 0; i < 2000; ++i) map.insert_oblivious({random() % 50'000, i});
  for (std::uint64_t i = 0; i < 1000; ++i) map.erase_oblivious(random() % 50'000);
  EXPECT_EQ(reads(), reads_before);
  EXPECT_EQ(writes(), writes_before);
  map.flush();
  // Each bucket is read and written once; a few have come before, with 2 reads and 3 writes. As
  // buckets are equally long, overflow is rare.
  auto const more = map.bucket_count() - buckets;
  EXPECT_LE(more, 2000 / 175 + 1);
  EXPECT_LE(reads() - reads_before, map.bucket_count() * 102 / 100 + 2 * more);
  EXPECT_LE(writes() - writes_before, map.bucket_count() * 102 / 100 + 3 * more);
}

TEST_F(unordered_map_ios, of_many_lookups_at_once_are_a_read_for_each_page) {
  auto map = make();
  for (std::uint64_t i = 0; i < 40'000; ++i) map.insert_oblivious({i, i});
  map.flush();
  std::vector<std::uint64_t> keys;
  for (int i = 0; i < 20'000; ++i) keys.push_back(random() % 80'000);
  std::vector<std::optional<std::uint64_t>> found(keys.size());
  auto const reads_before = reads();
  std::as_const(map).find_many(keys, found);
  EXPECT_LE(reads() - reads_before, most_pages(map));
  for (std::size_t i = 0; i < keys.size(); ++i)
    ASSERT_EQ(found[i], keys[i] < 40'000 ? std::optional(keys[i]) : std::nullopt);
  auto const [buckets, overflow] = map.cache_counts();
  EXPECT_GE(buckets.prefetches, map.bucket_count() * 9 / 10);
}

TEST_F(unordered_map_ios, of_many_changes_at_once_are_a_read_and_a_write_for_each_page) {
  auto map = make();
  map.build(items(40'000));
  map.flush();
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 4000; ++i) keys.push_back(i * 10);
  auto reads_before = reads(), writes_before = writes();
  EXPECT_EQ(map.erase_many(keys), 4000U);
  map.flush();
  EXPECT_LE(reads() - reads_before, most_pages(map));
  EXPECT_LE(writes() - writes_before, most_pages(map));
  reads_before = reads(), writes_before = writes();
  EXPECT_EQ(map.insert_many(items(40'000)), 4000U);  // no more than there were
  map.flush();
  EXPECT_LE(reads() - reads_before, most_pages(map));
  EXPECT_LE(writes() - writes_before, most_pages(map));
  auto const [buckets, overflow] = map.cache_counts();
  EXPECT_GE(buckets.prefetches, map.bucket_count() * 2 * 8 / 10) << "ahead of their use";
}

TEST_F(unordered_map_ios, of_erasing_what_is_unwanted_are_a_read_and_a_write_for_each_page) {
  auto map = make();
  for (std::uint64_t i = 0; i < 40'000; ++i) map.insert_oblivious({i, i});
  map.flush();
  auto reads_before = reads(), writes_before = writes();
  EXPECT_EQ(erase_if(map, [](number_item const& each) { return each.second >= 40'000; }), 0U);
  EXPECT_LE(reads() - reads_before, most_pages(map));
  EXPECT_EQ(writes(), writes_before);
  reads_before = reads();
  EXPECT_EQ(outsize::erase_if(map, [](number_item const& each) { return each.second % 2 == 0; }),
            20'000U);
  map.flush();
  EXPECT_LE(reads() - reads_before, most_pages(map));
  EXPECT_LE(writes() - writes_before, most_pages(map));
  EXPECT_EQ(map.size(), 20'000U);
}

TEST_F(unordered_map_ios, of_going_on_while_something_waits_are_those_of_that_and_of_a_scan) {
  auto map = make();
  map.build(items(40'000));
  map.flush();
  auto const first = std::as_const(map).begin()->first;
  for (std::uint64_t i = 0; i < 40'000; i += 40)
    if (i != first) map.insert_oblivious({i, 0});
  auto at = map.find(first);
  auto const reads_before = reads(), writes_before = writes();
  std::uint64_t seen = 0;
  for (; at != map.end(); ++at) ++seen;
  map.flush();
  EXPECT_GT(seen, 39'000U);
  EXPECT_LE(reads() - reads_before, 2 * most_pages(map));
  EXPECT_LE(writes() - writes_before, most_pages(map));
}

TEST_F(unordered_map_ios, of_an_item_that_nothing_waits_for_are_not_those_of_what_does) {
  auto map = make();
  map.build(items(40'000));
  map.flush();
  auto const at = map.find(0);
  auto const reads_before = reads(), writes_before = writes();
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    map.insert_oblivious({i * 30, i});
    ++at->second;
  }
  EXPECT_EQ(at->second, 1000U);
  EXPECT_LE(reads() - reads_before, 2U);
  EXPECT_EQ(writes(), writes_before);
  EXPECT_EQ(std::as_const(map).get(30), 1U);
}

TEST_F(unordered_map_ios, are_none_for_what_is_in_the_cache_or_empty) {
  numbers map(store, {.page_bytes = 4096, .cache_pages = 100});
  map.reserve(100'000);
  EXPECT_EQ(map.get(1), std::nullopt);
  EXPECT_TRUE(map.begin() == map.end());
  map.clear();
  for (std::uint64_t i = 0; i < 5000; ++i) map.insert({i, i});
  for (std::uint64_t i = 0; i < 5000; ++i) ASSERT_EQ(map.get(i), i);
  EXPECT_EQ(reads() + writes(), 0U);
}

}  // namespace
}  // namespace outsize
