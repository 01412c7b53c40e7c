// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A queue against std::queue, also on disks that fail, are late or full; and its I/Os against the
// paper's bound.

#include <outsize/container/queue.hpp>

#include <gtest/gtest.h>

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <random>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/testing/counted_storage.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/faulty_storage.hpp>

namespace outsize {
namespace {

using scratch::persist;

struct queues : testing::Test, scratch::counted_storage {
  queue<std::uint64_t> q{store, {.page_bytes = 64, .cache_pages = 8, .spare_pages = 2}};
};

/// How often an access failed.
std::uint64_t run_model(queue<std::uint64_t>& q, std::uint64_t seed, int phases) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::queue<std::uint64_t> model;
  std::uint64_t failures = 0;
  auto const expect_same_ends = [&] {
    ASSERT_EQ(q.size(), model.size());
    if (model.empty()) return;
    persist(failures, [&] { ASSERT_EQ(q.front(), model.front()); });
    persist(failures, [&] { ASSERT_EQ(std::as_const(q).front(), model.front()); });
    persist(failures, [&] { ASSERT_EQ(std::as_const(q).back(), model.back()); });
  };
  for (int phase = 0; phase < phases; ++phase) {
    auto const pushes = random() % 101;
    for (int i = 0; i < 1000 && !testing::Test::HasFatalFailure(); ++i) {
      if (random() % 100 < pushes || model.empty()) {
        auto const item = random();
        persist(failures, [&] { q.push(item); });
        model.push(item);
      } else if (i % 10 == 0) {
        persist(failures, [&] { q.front() = model.size(); });
        model.front() = model.size();
        persist(failures, [&] { q.back() = phase; });
        model.back() = phase;
      } else {
        q.pop();
        model.pop();
      }
      expect_same_ends();
    }
  }
  for (; !model.empty() && !testing::Test::HasFatalFailure(); model.pop(), q.pop())
    expect_same_ends();
  return failures;
}

TEST_F(queues, behave_as_standard_ones) {
  run_model(q, std::random_device{}(), scratch::operations(300));
}

TEST_F(queues, lose_nothing_when_accesses_fail_or_are_late) {
  auto const seed = std::random_device{}();
  scratch::faulty_storage disk(scratch::failing_or_late(seed));
  for (std::size_t const cache_pages : {4U, 8U}) {
    queue<std::uint64_t> faulty(disk.store,
                                {.page_bytes = 64, .cache_pages = cache_pages, .spare_pages = 2});
    EXPECT_GT(run_model(faulty, seed, scratch::operations(300)), scratch::operations(100U));
  }
}

TEST_F(queues, notice_nothing_of_accesses_that_are_short_or_late) {
  auto const seed = std::random_device{}();
  scratch::faulty_storage disk(scratch::late(seed));
  queue<std::uint64_t> late(disk.store, {.page_bytes = 64, .cache_pages = 4, .spare_pages = 2});
  EXPECT_EQ(run_model(late, seed, scratch::operations(300)), 0U);
  EXPECT_GT(disk.plan->injected(), scratch::operations(1000U));
}

TEST_F(queues, stay_as_they_are_when_the_disk_is_full) {
  scratch::faulty_storage disk({}, 20 * 64);
  queue<std::uint64_t> full(disk.store, {.page_bytes = 64, .cache_pages = 8, .spare_pages = 2});
  std::uint64_t pushed = 0, popped = 0;
  auto const fill = [&] {
    for (;; ++pushed) full.push(pushed);
  };
  for (int times = 0; times < 3; ++times) {
    EXPECT_THROW(fill(), out_of_space);
    EXPECT_GE(full.size(), 152U);  // the first page may be in part of those that have gone
    ASSERT_EQ(full.size(), pushed - popped);
    EXPECT_THROW(full.push(0), out_of_space);
    for (int i = 0; i < 110; ++i, full.pop()) ASSERT_EQ(full.front(), popped++);
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

TEST_F(queues, are_in_the_order_of_their_items) {
  struct unordered {
    int number;
  };
  static_assert(!std::equality_comparable<queue<unordered>>);
  queue<std::uint64_t> a(store, {.page_bytes = 64, .cache_pages = 8, .spare_pages = 2}),
      b(store, {.page_bytes = 64, .cache_pages = 8, .spare_pages = 2});
  EXPECT_TRUE(a == b);
  for (std::uint64_t i = 0; i < 100; ++i) {  // 13 pages
    a.push(i);
    EXPECT_TRUE(a != b && a > b);
    b.push(i);
    ASSERT_TRUE(a == b && a <=> b == std::strong_ordering::equal);
  }
  a.push(1);
  b.push(2);
  EXPECT_TRUE(a < b && !(a == b));
}

TEST(queue_content, is_known_by_what_emplace_returns) {
  struct square {
    square() = default;
    square(std::uint64_t of, std::uint64_t is) : first(of), second(is) {}
    std::uint64_t first, second;
  };
  scratch::counted_storage disk;
  queue<square> q(disk.store, {.page_bytes = 64});
  for (std::uint64_t i = 0; i < 20; ++i) {
    auto& pushed = q.emplace(i, 1);
    EXPECT_EQ(pushed.first, i);
    pushed.second = i * i;
  }
  for (std::uint64_t i = 0; i < 20; ++i, q.pop()) EXPECT_EQ(q.front().second, i * i);
}

TEST(queue_content, may_be_given_at_once) {
  scratch::counted_storage disk;
  queue<int> numbers(disk.store, {1, 2, 3});
  EXPECT_EQ(numbers.size(), 3U);
  EXPECT_EQ(numbers.front(), 1);
  queue<int> const paged(disk.store, {1, 2, 3}, {.page_bytes = 64});
  EXPECT_TRUE(numbers == paged);
  EXPECT_TRUE(queue<int>(disk.store, {.page_bytes = 64}).empty());
}

}  // namespace
}  // namespace outsize
