// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A migrating stack against std::stack; when it moves, and what that costs; what is left when it
// cannot.

#include <outsize/container/migrating_stack.hpp>

#include <gtest/gtest.h>

#include <compare>
#include <cstdint>
#include <random>
#include <stack>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/testing/counted_storage.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/faulty_storage.hpp>

namespace outsize {
namespace {

page_options const small{.page_bytes = 64, .cache_pages = 4, .spare_pages = 2};

using scratch::persist;

struct migrating_stacks : testing::Test, scratch::counted_storage {};

/// How often an access failed.
std::uint64_t run_model(migrating_stack<std::uint64_t>& s, std::uint64_t seed, int phases) {
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
    for (int i = 0; i < 500 && !testing::Test::HasFatalFailure(); ++i) {
      if (random() % 100 < pushes || model.empty()) {
        auto const item = random();
        if (i % 7 == 0 && !model.empty()) {
          persist(failures, [&] { s.push(s.top()); });
          model.push(model.top());
        } else {
          persist(failures, [&] { s.push(item); });
          model.push(item);
        }
      } else {
        s.pop();
        model.pop();
      }
      expect_same_top();
      if (s.is_in_memory()) {
        EXPECT_LE(s.size(), s.most_in_memory());
      }
    }
  }
  for (; !model.empty() && !testing::Test::HasFatalFailure(); model.pop(), s.pop())
    expect_same_top();
  return failures;
}

TEST_F(migrating_stacks, behave_as_standard_ones) {
  auto const seed = std::random_device{}();
  for (std::uint64_t most : {0U, 1U, 7U, 64U, 300U}) {
    migrating_stack<std::uint64_t> s(store, most, small);
    run_model(s, seed + most, scratch::operations(400));
  }
  page_pool pool(store, small);
  migrating_stack<std::uint64_t> s(pool, 100);
  run_model(s, seed, scratch::operations(400));
}

TEST_F(migrating_stacks, lose_nothing_when_accesses_fail_or_are_late) {
  auto const seed = std::random_device{}();
  scratch::faulty_storage disk(scratch::failing_or_late(seed));
  migrating_stack<std::uint64_t> s(disk.store, 100, small);
  EXPECT_GT(run_model(s, seed, scratch::operations(400)), scratch::operations(50U));
}

TEST_F(migrating_stacks, notice_nothing_of_accesses_that_are_short_or_late) {
  auto const seed = std::random_device{}();
  scratch::faulty_storage disk(scratch::late(seed));
  migrating_stack<std::uint64_t> s(disk.store, 100, small);
  EXPECT_EQ(run_model(s, seed, scratch::operations(400)), 0U);
  EXPECT_GT(disk.plan->injected(), scratch::operations(500U));
}

TEST_F(migrating_stacks, move_when_they_have_grown_and_come_back_when_they_have_shrunk) {
  auto const free_bytes = store.memory().free_bytes();
  migrating_stack<std::uint64_t> s(store, 80, small);
  for (std::uint64_t i = 0; i < 80; ++i) s.push(i);
  EXPECT_TRUE(s.is_in_memory());
  EXPECT_EQ(reads() + writes(), 0U);
  EXPECT_EQ(store.memory().free_bytes(), free_bytes - 80 * sizeof(std::uint64_t));
  s.push(80);
  EXPECT_FALSE(s.is_in_memory());
  EXPECT_GE(store.memory().free_bytes(), free_bytes - 2 * 4096);
  while (s.size() > 41) s.pop();
  EXPECT_FALSE(s.is_in_memory());
  s.pop();
  EXPECT_TRUE(s.is_in_memory());
  EXPECT_EQ(store.allocated_bytes(), 0U);
  for (std::uint64_t i = 40; i-- > 0; s.pop()) ASSERT_EQ(s.top(), i);
}

TEST_F(migrating_stacks, cost_a_constant_share_of_an_io_for_each_step_at_worst) {
  migrating_stack<std::uint64_t> s(store, 800, small);
  std::uint64_t steps = 0;
  for (int round = 0; round < 20; ++round) {  // from one move to the other, and back
    for (; s.is_in_memory(); ++steps) s.push(steps);
    for (; !s.is_in_memory(); ++steps) s.pop();
  }
  EXPECT_GE(steps, 20U * 800);
  EXPECT_LE(reads() + writes(), 20U * 150 + 100);  // 101 pages written, 50 read each time
  EXPECT_GE(reads() + writes(), 20U * 100);
}

TEST_F(migrating_stacks, are_in_the_order_of_their_items_wherever_these_are) {
  auto const of = [this](std::uint64_t most, std::vector<std::uint64_t> const& items) {
    migrating_stack<std::uint64_t> s(store, most, small);
    for (auto const item : items) s.push(item);
    return s;
  };
  std::vector<std::uint64_t> few(50), less(50), more(51);
  less[40] = few[40] = more[40] = 3;
  --less[40];
  for (std::uint64_t const most_of_a : {0U, 100U}) {
    for (std::uint64_t const most_of_b : {0U, 100U}) {
      auto const a = of(most_of_a, few);
      EXPECT_EQ(a.is_in_memory(), most_of_a > 0);
      EXPECT_EQ(a, of(most_of_b, few));
      EXPECT_NE(a, of(most_of_b, less));
      EXPECT_NE(a, of(most_of_b, more));
      EXPECT_LT(of(most_of_b, less), a);
      EXPECT_GT(of(most_of_b, more), a);
      EXPECT_EQ(a <=> of(most_of_b, few), std::strong_ordering::equal);
    }
  }
  EXPECT_EQ(of(10, {}), of(0, {}));
  EXPECT_LT(of(10, {}), of(0, {1}));
}

TEST_F(migrating_stacks, return_what_emplace_has_pushed_wherever_it_is) {
  migrating_stack<std::uint64_t> s(store, 80, small);
  for (std::uint64_t i = 0; i < 160; ++i) {
    s.emplace(i) += 1000;
    ASSERT_EQ(s.top(), 1000 + i);
  }
  EXPECT_FALSE(s.is_in_memory());
}

TEST_F(migrating_stacks, stay_as_they_are_when_they_cannot_move) {
  scratch::faulty_storage disk({}, 64 * 5);
  migrating_stack<std::uint64_t> s(disk.store, 80, small);
  for (std::uint64_t i = 0; i < 80; ++i) s.push(i);
  EXPECT_THROW(s.push(80), out_of_space);
  EXPECT_TRUE(s.is_in_memory());
  EXPECT_EQ(s.size(), 80U);
  EXPECT_EQ(disk.store.allocated_bytes(), 0U);
  for (std::uint64_t i = 80; i-- > 0; s.pop()) ASSERT_EQ(s.top(), i);

  migrating_stack<std::uint64_t> large(store, 1'000'000, small);
  EXPECT_THROW(for (;;) large.push(large.size()), budget_error);
  EXPECT_EQ(large.top(), large.size() - 1);
  EXPECT_GE(large.size(), 32'000U);
}

TEST_F(migrating_stacks, stay_on_disk_when_the_way_back_fails) {
  auto const free_bytes = store.memory().free_bytes();
  {
    migrating_stack<std::uint64_t> s(store, 80, small);
    for (std::uint64_t i = 0; i < 100; ++i) s.push(i);
    {
      auto const others = store.memory().take(store.memory().free_bytes(), "others");
      while (s.size() > 40) s.pop();
      EXPECT_FALSE(s.is_in_memory());
    }
    while (s.size() > 21) s.pop();
    EXPECT_FALSE(s.is_in_memory());
    s.pop();
    EXPECT_TRUE(s.is_in_memory());
    auto moved = std::move(s);
    for (std::uint64_t i = 20; i-- > 0; moved.pop()) ASSERT_EQ(moved.top(), i);
  }
  EXPECT_EQ(store.memory().free_bytes(), free_bytes);
}

}  // namespace
}  // namespace outsize
