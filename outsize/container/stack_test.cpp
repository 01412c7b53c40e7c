// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A stack against std::stack, also on disks that fail, are late or full; and its I/Os against the
// paper's bound.

#include <outsize/container/stack.hpp>

#include <gtest/gtest.h>

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stack>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/testing/counted_storage.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/faulty_storage.hpp>

namespace outsize {
namespace {

using scratch::persist;

struct stacks : testing::TestWithParam<bool>, scratch::counted_storage {
  page_options options() const {
    page_options const small{.page_bytes = 64, .cache_pages = 8, .spare_pages = 2};
    return GetParam() ? without_overlap(small) : small;
  }
};

/// How often an access failed.
std::uint64_t run_model(stack<std::uint64_t>& s, std::uint64_t seed, int phases) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::stack<std::uint64_t> model;
  std::uint64_t failures = 0;
  auto const expect_same_top = [&] {
    ASSERT_EQ(s.size(), model.size());
    if (model.empty()) return;
    persist(failures, [&] { ASSERT_EQ(s.top(), model.top()); });
    persist(failures, [&] { ASSERT_EQ(std::as_const(s).top(), model.top()); });
  };
  for (int phase = 0; phase < phases; ++phase) {
    auto const pushes = random() % 101;
    for (int i = 0; i < 1000 && !testing::Test::HasFatalFailure(); ++i) {
      if (random() % 100 < pushes || model.empty()) {
        auto const item = random();
        persist(failures, [&] { s.push(item); });
        model.push(item);
      } else if (i % 10 == 0) {
        persist(failures, [&] { s.top() = model.size(); });
        model.top() = model.size();
      } else {
        s.pop();
        model.pop();
      }
      expect_same_top();
    }
  }
  for (; !model.empty() && !testing::Test::HasFatalFailure(); model.pop(), s.pop())
    expect_same_top();
  return failures;
}

TEST_P(stacks, behave_as_standard_ones) {
  stack<std::uint64_t> s(store, options());
  run_model(s, std::random_device{}(), scratch::operations(300));
}

TEST_P(stacks, lose_nothing_when_accesses_fail_or_are_late) {
  auto const seed = std::random_device{}();
  scratch::faulty_storage disk(scratch::failing_or_late(seed));
  for (std::size_t const cache_pages : {4U, 8U}) {
    auto small = options();
    small.cache_pages = cache_pages;
    stack<std::uint64_t> s(disk.store, small);
    EXPECT_GT(run_model(s, seed, scratch::operations(300)), scratch::operations(100U));
  }
}

TEST_P(stacks, notice_nothing_of_accesses_that_are_short_or_late) {
  auto const seed = std::random_device{}();
  scratch::faulty_storage disk(scratch::late(seed));
  auto small = options();
  small.cache_pages = 4;
  stack<std::uint64_t> s(disk.store, small);
  EXPECT_EQ(run_model(s, seed, scratch::operations(300)), 0U);
  EXPECT_GT(disk.plan->injected(), scratch::operations(1000U));
}

TEST_P(stacks, stay_as_they_are_when_the_disk_is_full) {
  scratch::faulty_storage disk({}, 20 * 64);
  stack<std::uint64_t> s(disk.store, options());
  auto const fill = [&] {
    for (;;) s.push(s.size());
  };
  for (int times = 0; times < 3; ++times) {
    EXPECT_THROW(fill(), out_of_space);
    ASSERT_EQ(s.size(), 160U);
    EXPECT_THROW(s.push(0), out_of_space);
    for (std::uint64_t i = 160; i-- > 50; s.pop()) ASSERT_EQ(s.top(), i);
  }
}

TEST_P(stacks, cost_a_write_for_each_page_pushed_and_a_read_for_each_popped) {
  stack<std::uint64_t> s(store, options());
  for (std::uint64_t i = 0; i < 8000; ++i) s.push(i);  // 1000 pages
  EXPECT_LE(writes(), 1000U);
  EXPECT_GE(writes(), 988U);
  EXPECT_EQ(reads(), 0U);
  auto const written = writes();
  for (std::uint64_t i = 8000; i-- > 0; s.pop()) ASSERT_EQ(s.top(), i);
  EXPECT_LE(reads(), 1000U);
  EXPECT_LE(writes(), written + 10);  // those that were on their way
  EXPECT_TRUE(s.empty());
}

TEST_P(stacks, cost_nothing_at_the_edge_of_a_page) {
  stack<std::uint64_t> s(store, options());
  for (std::uint64_t i = 0; i < 8 * 30; ++i) s.push(i);
  for (int warm = 0; warm < 2; ++warm) {
    s.push(1);
    s.pop();
    s.pop();
    s.push(239);
  }
  auto const moved = reads() + writes();
  for (int i = 0; i < 1000; ++i) {
    s.push(1);
    s.pop();
    EXPECT_EQ(s.top(), 239U);
    s.pop();
    s.push(239);
  }
  EXPECT_EQ(reads() + writes(), moved);
}

TEST_P(stacks, are_read_ahead_of_pops_if_they_may_be) {
  stack<std::uint64_t> s(store, options());
  for (std::uint64_t i = 0; i < 8000; ++i) s.push(i);  // 1000 pages
  for (std::uint64_t i = 8000; i-- > 0; s.pop()) ASSERT_EQ(s.top(), i);
  auto const counts = s.cache_counts();
  if (GetParam()) {
    EXPECT_EQ(counts.prefetches, 0U);
    EXPECT_GE(counts.misses, 985U);
  } else {
    EXPECT_GE(counts.prefetches, 985U);
    EXPECT_LE(counts.misses, 3U);
  }
}

TEST_P(stacks, are_swapped_with_their_items) {
  stack<std::uint64_t> a(store, options()), b(store, options());
  for (std::uint64_t i = 0; i < 500; ++i) a.push(i);
  a.swap(b);
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(b.size(), 500U);
  a.push(7);
  swap(a, b);
  EXPECT_EQ(b.top(), 7U);
  for (std::uint64_t i = 500; i-- > 0; a.pop()) ASSERT_EQ(a.top(), i);
}

INSTANTIATE_TEST_SUITE_P(all, stacks, testing::Bool(), [](auto const& kind) {
  return kind.param ? "without_overlap" : "grow_shrink";
});

TEST_P(stacks, are_in_the_order_of_their_items) {
  struct unordered {
    int number;
  };
  static_assert(!std::equality_comparable<stack<unordered>>);
  stack<std::uint64_t> a(store, options()), b(store, options());
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

TEST(stack_content, is_known_by_what_emplace_returns) {
  struct square {
    square() = default;
    square(std::uint64_t of, std::uint64_t is) : first(of), second(is) {}
    std::uint64_t first, second;
  };
  scratch::counted_storage disk;
  stack<square> s(disk.store, {.page_bytes = 64});
  for (std::uint64_t i = 0; i < 20; ++i) {
    auto& pushed = s.emplace(i, 1);
    EXPECT_EQ(pushed.first, i);
    pushed.second = i * i;
    EXPECT_EQ(s.top().second, i * i);
  }
}

TEST(stack_content, may_be_given_at_once) {
  scratch::counted_storage disk;
  stack<int> numbers(disk.store, {1, 2, 3});
  EXPECT_EQ(numbers.size(), 3U);
  EXPECT_EQ(numbers.top(), 3);
  stack<int> const paged(disk.store, {1, 2, 3}, {.page_bytes = 64});
  EXPECT_TRUE(numbers == paged);
  EXPECT_TRUE(stack<int>(disk.store, {.page_bytes = 64}).empty());
}

}  // namespace
}  // namespace outsize
