// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/memory_budget.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

namespace outsize {
namespace {

TEST(memory_budget, counts_grants_and_takes_them_back) {
  memory_budget budget(100);
  {
    grant const a = budget.take(60, "a");
    grant const b = budget.take(40, "b");
    EXPECT_EQ(budget.free_bytes(), 0U);
    EXPECT_EQ(a.asker(), "a");
    EXPECT_EQ(b.total_bytes(), 40U);
  }
  EXPECT_EQ(budget.free_bytes(), 100U);
  EXPECT_EQ(budget.peak_bytes(), 100U);
}

TEST(memory_budget, refuses_with_asker_have_and_need_and_stays_as_it_was) {
  memory_budget budget(100);
  grant const held = budget.take(30, "held");
  try {
    budget.take(71, "merge");
    FAIL() << "granted";
  } catch (budget_error const& error) {
    EXPECT_EQ(error.asker(), "merge");
    EXPECT_EQ(error.have_bytes(), 70U);
    EXPECT_EQ(error.need_bytes(), 71U);
  }
  EXPECT_EQ(budget.free_bytes(), 70U);
  EXPECT_THROW(budget.take(UINT64_MAX, "overflow"), budget_error);
}

TEST(grant, is_extended_as_far_as_the_budget_goes) {
  memory_budget budget(100);
  {
    grant g = budget.take(10, "index");
    g.charge(10);
    g.extend(50);
    EXPECT_EQ(g.total_bytes(), 60U);
    EXPECT_EQ(g.free_bytes(), 50U);
    EXPECT_EQ(budget.free_bytes(), 40U);
    try {
      g.extend(41);
      FAIL() << "extended";
    } catch (budget_error const& error) {
      EXPECT_EQ(error.asker(), "index");
      EXPECT_EQ(error.have_bytes(), 40U);
      EXPECT_EQ(error.need_bytes(), 41U);
    }
    EXPECT_EQ(g.total_bytes(), 60U);
    g.discharge(10);
  }
  EXPECT_EQ(budget.free_bytes(), 100U);
}

TEST(grant, allocates_zeroed_pages_and_counts_whole_pages) {
  memory_budget budget(10 * page_bytes());
  grant g = budget.take(4 * page_bytes(), "test");
  {
    buffer b = g.allocate(page_bytes() + 1);
    EXPECT_EQ(b.size(), 2 * page_bytes());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data()) % page_bytes(), 0U);
    EXPECT_TRUE(std::ranges::all_of(b.bytes(), [](std::byte x) { return x == std::byte{0}; }));
    EXPECT_EQ(g.free_bytes(), 2 * page_bytes());
    EXPECT_THROW(g.allocate(3 * page_bytes()), budget_error);
  }
  EXPECT_EQ(g.free_bytes(), g.total_bytes());
}

TEST(grant, counts_memory_that_is_held_elsewhere) {
  memory_budget budget(100);
  grant g = budget.take(100, "index");
  g.charge(80);
  EXPECT_THROW(g.charge(21), budget_error);
  EXPECT_EQ(g.free_bytes(), 20U);
  g.discharge(80);
  EXPECT_EQ(g.free_bytes(), 100U);
  g.charge(10);
  EXPECT_EQ(g.peak_used_bytes(), 80U);
  g.discharge(10);
}

TEST(grant, charges_what_is_free_of_the_budget_if_it_was_told_to) {
  memory_budget memory(64_KiB);
  grant held = memory.take(8_KiB, "index");
  held.charge(8_KiB);
  EXPECT_THROW(held.charge(1), budget_error);
  held.charge_beyond();
  held.charge(1);
  EXPECT_EQ(held.total_bytes(), 8_KiB + page_bytes()) << "more than a byte at a time";
  held.charge(56_KiB - 1);
  EXPECT_EQ(memory.free_bytes(), 0U);
  EXPECT_THROW(held.charge(1), budget_error);
  EXPECT_THROW(held.allocate(1), budget_error);
  EXPECT_FALSE(held.try_extend(1));
  held.discharge(64_KiB);
  EXPECT_EQ(held.shrink(UINT64_MAX), 64_KiB);
  EXPECT_TRUE(held.try_extend(64_KiB));
  EXPECT_EQ(held.free_bytes(), 64_KiB);
  EXPECT_FALSE(memory.take(0, "named").try_extend(0));
}

TEST(grant, can_be_moved_while_its_buffers_live) {
  memory_budget budget(10 * page_bytes());
  grant second;
  EXPECT_EQ(second.total_bytes(), 0U);
  {
    grant first = budget.take(2 * page_bytes(), "first");
    buffer a = first.allocate(1);
    second = std::move(first);
    buffer b = std::move(a);
    EXPECT_FALSE(a);
    EXPECT_TRUE(b);
    EXPECT_EQ(second.free_bytes(), page_bytes());
  }
  EXPECT_EQ(second.free_bytes(), 2 * page_bytes());
}

TEST(memory_budget, never_exceeds_its_total_with_many_threads) {
  memory_budget budget(1000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < 2000; ++i) {
        try {
          grant const g = budget.take(i % 600, "thread");
          EXPECT_LE(g.total_bytes(), budget.total_bytes());
        } catch (budget_error const&) {
          // As it should when the others hold too much.
        }
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(budget.free_bytes(), 1000U);
  EXPECT_LE(budget.peak_bytes(), 1000U);
}

TEST(grant, gives_pages_that_it_keeps_to_further_buffers) {
  memory_budget budget(8_MiB);
  grant g = budget.take(4_MiB, "merge");
  g.keep_pages();
  std::byte* place = nullptr;
  {
    buffer const chunk = g.allocate(3_MiB);
    place = chunk.data();
    std::ranges::fill(chunk.bytes(), std::byte{7});
  }
  EXPECT_EQ(g.free_bytes(), 4_MiB);
  {
    buffer const window = g.allocate_for_overwrite(1_MiB), other = g.allocate_for_overwrite(2_MiB);
    EXPECT_EQ(window.data(), place);
    EXPECT_EQ(other.data(), place + 1_MiB);
    EXPECT_EQ(other.bytes().back(), std::byte{7});
    EXPECT_EQ(g.free_bytes(), 1_MiB);
    EXPECT_THROW(g.allocate_for_overwrite(2_MiB), budget_error);
    EXPECT_EQ(g.free_bytes(), 1_MiB);
    buffer const fresh = g.allocate_for_overwrite(1_MiB);
    EXPECT_EQ(fresh.bytes().front(), std::byte{0});
  }
  buffer const zeros = g.allocate(4_MiB);  // for which nothing may be kept
  EXPECT_EQ(std::ranges::count(zeros.bytes(), std::byte{0}), 4_MiB);
}

TEST(grant, keeps_pages_only_where_it_was_told_to) {
  memory_budget budget(4_MiB);
  grant g = budget.take(4_MiB, "pool");
  { std::ranges::fill(g.allocate(2_MiB).bytes(), std::byte{7}); }
  EXPECT_EQ(std::ranges::count(g.allocate_for_overwrite(2_MiB).bytes(), std::byte{0}), 2_MiB);
}

TEST(memory_budget_death_test, asserts_that_all_grants_are_gone) {
  auto const misuse = [] {
    auto budget = std::make_unique<memory_budget>(1_MiB);
    auto const of_it = budget->take(0, "test");
    budget.reset();
  };
  EXPECT_DEATH(misuse(), "a memory budget goes before what has memory of it");
  memory_budget budget(1_MiB);
  auto a = budget.take(10, "a"), b = budget.take(0, "b");
  EXPECT_EQ(budget.grant_count(), 2U);
  b = std::move(a);
  a = {};
  EXPECT_EQ(budget.grant_count(), 1U);
}

}  // namespace
}  // namespace outsize
