// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A queue against std::queue, and its I/Os against the paper's bound.

#include <outsize/container/queue.hpp>

#include <gtest/gtest.h>

#include <queue>
#include <random>
#include <utility>

#include <outsize/testing/counted_storage.hpp>
#include <outsize/testing/effort.hpp>

namespace outsize {
namespace {

struct queues : testing::Test, scratch::counted_storage {
  queue<std::uint64_t> q{store, {.page_bytes = 64, .cache_pages = 8, .spare_pages = 2}};
};

TEST_F(queues, behave_as_standard_ones) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::queue<std::uint64_t> model;
  for (int phase = 0; phase < scratch::operations(300); ++phase) {
    auto const pushes = random() % 101;
    for (int i = 0; i < 1000; ++i) {
      if (random() % 100 < pushes || model.empty()) {
        auto const item = random();
        q.push(item);
        model.push(item);
      } else {
        ASSERT_EQ(q.front(), model.front());
        q.pop();
        model.pop();
      }
      ASSERT_EQ(q.size(), model.size());
      if (!model.empty()) {
        ASSERT_EQ(std::as_const(q).front(), model.front());
        ASSERT_EQ(std::as_const(q).back(), model.back());
      }
    }
  }
}

TEST_F(queues, cost_a_write_and_a_read_for_each_page_that_goes_through) {
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < 8000; ++i) q.push(i);  // 1000 pages
  for (std::uint64_t i = 8000; i < 24'000; ++i) {
    q.push(i);
    ASSERT_EQ(q.front(), next++);
    q.pop();
  }
  for (; !q.empty(); q.pop()) ASSERT_EQ(q.front(), next++);
  EXPECT_EQ(next, 24'000U);
  EXPECT_LE(writes(), 3000U);
  EXPECT_LE(reads(), 3000U);
  EXPECT_GE(reads(), 2900U);
  EXPECT_LE(store.allocated_bytes(), 2 * 64U);
}

TEST_F(queues, are_read_ahead_of_pops) {
  for (std::uint64_t i = 0; i < 8000; ++i) q.push(i);  // 1000 pages
  for (std::uint64_t i = 0; i < 8000; ++i, q.pop()) ASSERT_EQ(q.front(), i);
  EXPECT_GE(q.cache_counts().prefetches, 985U);
  EXPECT_LE(q.cache_counts().misses, 3U);
}

TEST_F(queues, are_read_ahead_of_pops_while_they_are_pushed_to) {
  for (std::uint64_t i = 0; i < 8000; ++i) q.push(i);
  auto const before = q.cache_counts();
  for (std::uint64_t i = 0; i < 8000; ++i) {
    q.push(i);
    ASSERT_EQ(q.front(), i);
    q.pop();
  }
  EXPECT_GE(q.cache_counts().prefetches - before.prefetches, 985U);
  EXPECT_LE(q.cache_counts().misses - before.misses, 10U);
}

TEST_F(queues, are_swapped_with_their_items) {
  queue<std::uint64_t> other(store, {.page_bytes = 64, .cache_pages = 8});
  for (std::uint64_t i = 0; i < 500; ++i) q.push(i);
  q.swap(other);
  EXPECT_TRUE(q.empty());
  q.push(7);
  swap(q, other);
  EXPECT_EQ(other.front(), 7U);
  for (std::uint64_t i = 0; i < 500; ++i, q.pop()) ASSERT_EQ(q.front(), i);
}

}  // namespace
}  // namespace outsize
