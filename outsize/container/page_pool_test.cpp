// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Containers that share a pool against those of the standard library; what they cost together.

#include <outsize/page/page_pool.hpp>

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/container/queue.hpp>
#include <outsize/container/stack.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/testing/counted_storage.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/faulty_storage.hpp>

namespace outsize {
namespace {

struct page_pools : testing::Test, scratch::counted_storage {};

/// Again until it has been done: an access that throws has done nothing.
template <typename Action>
auto persist(Action const& action) {
  for (;;) try {
      return action();
    } catch (io_error const&) {
    }
}

/// Many containers of a pool in random turns, each against its model.
void run_model(storage& store, std::uint64_t seed, std::size_t cache_pages, int steps) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << cache_pages << " pages");
  std::mt19937_64 random(seed);
  page_pool pool(
      store,
      {.page_bytes = 64, .cache_pages = cache_pages, .spare_pages = 2, .read_ahead_pages = 1});
  std::vector<stack<std::uint64_t>> stacks;
  std::vector<std::vector<std::uint64_t>> stack_models(10);
  for (int i = 0; i < 10; ++i) stacks.emplace_back(pool);
  queue<std::uint16_t> line(pool);
  std::deque<std::uint16_t> line_model;
  vector<std::uint32_t> array(pool);
  array.resize(200);
  std::array<std::uint32_t, 200> array_model{};
  auto const push_odds = [&](int step) { return step % 5000 < 3000 ? 60U : 30U; };
  for (int i = 0; i < steps; ++i) {
    auto const item = random();
    bool const pushes = random() % 100 < push_odds(i);
    if (auto const which = random() % 12; which < 10) {
      auto& s = stacks[which];
      auto& model = stack_models[which];
      if (pushes || model.empty()) {
        persist([&] { s.push(item); });
        model.push_back(item);
      } else {
        persist([&] { ASSERT_EQ(s.top(), model.back()); });
        persist([&] { ASSERT_EQ(std::as_const(s).top(), model.back()); });
        s.pop();
        model.pop_back();
      }
    } else if (which == 10) {
      if (pushes || line_model.empty()) {
        persist([&] { line.push(static_cast<std::uint16_t>(item)); });
        line_model.push_back(static_cast<std::uint16_t>(item));
      } else {
        persist([&] { ASSERT_EQ(line.front(), line_model.front()); });
        line.pop();
        line_model.pop_front();
      }
    } else {
      auto const index = random() % array_model.size();
      persist([&] { ASSERT_EQ(array[index], array_model[index]); });
      persist([&] { array[index] = static_cast<std::uint32_t>(item); });
      array_model[index] = static_cast<std::uint32_t>(item);
    }
    if (testing::Test::HasFatalFailure()) return;
  }
  for (std::size_t i = 0; i < 10; ++i)
    for (; !stacks[i].empty(); stacks[i].pop(), stack_models[i].pop_back())
      persist([&] { ASSERT_EQ(stacks[i].top(), stack_models[i].back()); });
}

TEST_F(page_pools, change_nothing_about_what_containers_hold) {
  auto const seed = std::random_device{}();
  for (std::size_t cache : {4U, 7U, 40U})
    run_model(store, seed + cache, cache, scratch::operations(100'000));
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

TEST_F(page_pools, lose_nothing_when_accesses_fail_or_are_late) {
  auto const seed = std::random_device{}();
  auto const plan = std::make_shared<io::fault_plan>(scratch::failing_or_late(seed));
  auto const open = [&](io::request_queue&) -> io::file_ptr {
    return std::make_unique<io::faulty_file>(io::make_memory_file("memory", 16_MiB), plan);
  };
  storage faulty({.disks = {disk_options("memory", open)}, .memory_bytes = 1_MiB, .threads = 1});
  run_model(faulty, seed, 6, scratch::operations(200'000));
}

TEST_F(page_pools, have_stacks_that_take_turns_pay_what_each_would_pay_alone) {
  page_pool pool(store, {.page_bytes = 64, .cache_pages = 60, .read_ahead_pages = 2});
  std::vector<stack<std::uint64_t>> stacks;
  for (int i = 0; i < 10; ++i) stacks.emplace_back(pool);
  for (std::uint64_t i = 0; i < 800; ++i)
    for (auto& s : stacks) s.push(i);  // 1000 pages in all
  EXPECT_LE(writes(), 1000U);
  EXPECT_EQ(reads(), 0U);
  auto const written = writes();
  for (std::uint64_t i = 800; i-- > 0;)
    for (auto& s : stacks) {
      ASSERT_EQ(s.top(), i);
      s.pop();
    }
  EXPECT_LE(reads(), 1000U);
  EXPECT_GE(reads(), 930U);
  EXPECT_GE(pool.cache_counts().prefetches, 900U);
  EXPECT_LE(writes(), written + 70);  // those that were on their way, or had to be
}

TEST_F(page_pools, have_stacks_cost_nothing_at_the_edges_of_their_pages) {
  page_pool pool(store, {.page_bytes = 64, .cache_pages = 40});
  std::vector<stack<std::uint64_t>> stacks;
  for (int i = 0; i < 10; ++i) stacks.emplace_back(pool);
  for (std::uint64_t i = 0; i < 80; ++i)
    for (auto& s : stacks) s.push(i);
  auto const cross_edge = [](stack<std::uint64_t>& s) {
    s.push(1);
    s.pop();
    EXPECT_EQ(s.top(), 79U);
    s.pop();
    s.push(79);
  };
  for (int warm = 0; warm < 2; ++warm)
    for (auto& s : stacks) cross_edge(s);
  auto const moved = reads() + writes();
  for (int i = 0; i < 200; ++i)
    for (auto& s : stacks) cross_edge(s);
  EXPECT_EQ(reads() + writes(), moved);
}

TEST_F(page_pools, have_room_for_thousands_of_stacks) {
  auto const free_bytes = store.memory().free_bytes();
  {
    page_pool pool(store, {.page_bytes = 4096, .cache_pages = 16, .spare_pages = 2});
    std::vector<stack<std::uint64_t>> stacks;
    for (int i = 0; i < 2000; ++i) stacks.emplace_back(pool);  // their pages are 8 times the memory
    for (std::uint64_t round = 0; round < 3; ++round)
      for (std::uint64_t i = 0; i < stacks.size(); ++i) stacks[i].push(round * i);
    EXPECT_GE(store.memory().free_bytes() + 18 * 4096 + 2000 * 256, free_bytes);
    for (std::uint64_t i = 0; i < stacks.size(); ++i) ASSERT_EQ(stacks[i].top(), 2 * i);
  }
  EXPECT_EQ(store.memory().free_bytes(), free_bytes);
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

TEST_F(page_pools, keep_references_valid_for_as_many_pages_as_they_say) {
  page_pool pool(store, {.page_bytes = 64, .cache_pages = 12});
  ASSERT_EQ(pool.live_pages(), 4U);
  std::vector<stack<std::uint64_t>> stacks;
  for (int i = 0; i < 20; ++i) {
    stacks.emplace_back(pool);
    stacks.back().push(7);
  }
  stacks[0].top();
  stacks[1].top();
  auto& kept = stacks[0].top();  // counts as the last, though its page was never forgotten
  for (std::size_t i = 1; i <= 3; ++i) EXPECT_EQ(stacks[i].top(), 7U);
  kept = 8;
  for (std::size_t i = 1; i < 20; ++i) EXPECT_EQ(stacks[i].top(), 7U);
  EXPECT_EQ(stacks[0].top(), 8U);
}

TEST_F(page_pools, outlive_nobody_and_refuse_long_items) {
  std::vector<stack<std::uint64_t>> stacks;
  {
    page_pool pool(store, {.page_bytes = 64});
    stacks.emplace_back(pool);
    using long_item = std::array<std::uint64_t, 9>;
    EXPECT_THROW(stack<long_item>{pool}, std::invalid_argument);
    EXPECT_THROW(page_pool(store, {.page_bytes = 1_MiB}), budget_error);
    EXPECT_THROW(page_pool(store, {.page_bytes = 64, .placement = {{.disks = {1}}}}),
                 std::invalid_argument);
  }
  for (std::uint64_t i = 0; i < 1000; ++i) stacks[0].push(i);
  auto const other = std::move(stacks[0]);
  EXPECT_EQ(other.top(), 999U);
}

}  // namespace
}  // namespace outsize
