// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The last operation of each key waits, found by its key, and in the order of buckets.

#include <outsize/container/detail/hash/pending_operations.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <unordered_map>

#include <outsize/base/error.hpp>
#include <outsize/container/detail/tree/map_item.hpp>
#include <outsize/testing/counted_storage.hpp>

namespace outsize::detail {
namespace {

using item = map_item<std::uint32_t, std::uint64_t>;
using operations = pending_operations<item, std::equal_to<>>;
using kind = operations::kind;

struct waiting_operations : testing::Test, scratch::counted_storage {};

TEST_F(waiting_operations, keep_the_last_of_each_key_until_they_are_full) {
  operations waiting(store, 4096);
  std::unordered_map<std::uint32_t, std::pair<kind, std::uint64_t>> model;
  std::mt19937_64 random(3);
  for (int round = 0; round < 3; ++round) {
    while (!waiting.full()) {
      auto const key = static_cast<std::uint32_t>(random() % 100);
      // Hash values of which many are alike.
      auto const what = random() % 3 == 0 ? kind::erase : kind::assign;
      auto const value = random();
      waiting.put(mixed_bits(key % 40), {key, value}, what);
      model[key] = {what, value};
      ASSERT_EQ(waiting.size(), model.size());
    }
    for (std::uint32_t key = 0; key < 200; ++key) {
      auto const& found = waiting.find(mixed_bits(key % 40), key);
      auto const expected = model.find(key);
      if (expected == model.end()) {
        ASSERT_EQ(found.what, kind::none);
      } else {
        ASSERT_EQ(found.what, expected->second.first);
        ASSERT_EQ(found.item, (item{key, expected->second.second}));
      }
    }
    waiting.clear();
    model.clear();
    EXPECT_TRUE(waiting.empty());
    EXPECT_EQ(waiting.find(mixed_bits(1), 1).what, kind::none);
  }
}

TEST_F(waiting_operations, come_by_their_buckets) {
  operations waiting(store, 4096);
  while (!waiting.full())
    waiting.put(mixed_bits(waiting.size()), {static_cast<std::uint32_t>(waiting.size()), 0},
                kind::assign);
  bucket_numbers const numbers(5, 17);
  auto const order = waiting.by_bucket(numbers);
  ASSERT_EQ(order.size(), waiting.size());
  EXPECT_TRUE(std::ranges::is_sorted(order, {}, &operations::placed::bucket));
  std::vector<bool> seen(waiting.size());
  for (auto const& [bucket, slot] : order) {
    EXPECT_EQ(bucket, numbers.of(waiting[slot].hash));
    seen[waiting[slot].item.first] = true;
  }
  EXPECT_EQ(std::ranges::count(seen, true), static_cast<std::ptrdiff_t>(waiting.size()));
}

TEST_F(waiting_operations, take_whole_pages_of_a_share_that_is_not) {
  for (std::size_t odd = 1; odd < 2 * page_bytes(); odd += page_bytes() / 4) {
    grant const others = store.memory().take(store.memory().free_bytes() / 3 + odd, "others");
    operations const waiting(store, 2 * store.memory().free_bytes(), {}, false);
    EXPECT_GT(waiting.slot_count(), 16U);
  }
}

TEST_F(waiting_operations, take_their_memory_from_the_budget) {
  auto const free_bytes = store.memory().free_bytes();
  {
    operations const waiting(store, 100'000);
    EXPECT_LE(store.memory().free_bytes(), free_bytes - 90'000);
    EXPECT_GE(store.memory().free_bytes(), free_bytes - 110'000);
  }
  EXPECT_EQ(store.memory().free_bytes(), free_bytes);
  EXPECT_THROW(operations(store, 1'000'000'000), budget_error);
}

}  // namespace
}  // namespace outsize::detail
