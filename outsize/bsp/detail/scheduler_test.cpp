// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/detail/scheduler.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace outsize::bsp::detail {
namespace {

using activity = scheduler::activity;
using presence = scheduler::presence;

/// Brings in the next processor at once.
std::uint32_t bring(scheduler& ranks) {
  std::uint32_t const rank = ranks.incoming().value();
  ranks.arrived(rank);
  return rank;
}

TEST(scheduler, brings_and_runs_processors_in_order) {
  scheduler ranks(3, 1);
  EXPECT_FALSE(ranks.start_next(0));
  EXPECT_EQ(bring(ranks), 0U);
  EXPECT_EQ(bring(ranks), 1U);
  EXPECT_EQ(ranks.start_next(0), 0U);
  EXPECT_FALSE(ranks.start_next(0));  // one at a time
  ranks.park(0);
  EXPECT_EQ(ranks.start_next(0), 1U);
  ranks.end(1);
  EXPECT_FALSE(ranks.start_next(0));
  EXPECT_EQ(bring(ranks), 2U);
  EXPECT_FALSE(ranks.incoming());
  EXPECT_EQ(ranks.start_next(0), 2U);
}

TEST(scheduler, deals_processors_to_workers_that_have_the_fewest) {
  scheduler ranks(4, 2);
  EXPECT_EQ(bring(ranks), 0U);
  EXPECT_EQ(bring(ranks), 1U);  // of worker 1, which has none
  EXPECT_EQ(ranks.start_next(1), 1U);
  EXPECT_EQ(bring(ranks), 3U);
  EXPECT_EQ(ranks.start_next(0), 0U);
  EXPECT_FALSE(ranks.start_next(0));
}

TEST(scheduler, starts_those_that_stayed_in_memory_before_others_come) {
  scheduler ranks(3, 1);
  for (int i = 0; i < 2; ++i) bring(ranks);
  for (std::uint32_t const rank : {0U, 1U}) {
    ASSERT_EQ(ranks.start_next(0), rank);
    ranks.park(rank);
  }
  EXPECT_EQ(ranks.victim(false), 0U);  // has waited longest
  ranks.losing(0, true);
  EXPECT_EQ(ranks.victim(false), 1U);
  ASSERT_EQ(bring(ranks), 2U);
  ASSERT_EQ(ranks.start_next(0), 2U);
  for (std::uint32_t rank = 0; rank < 3; ++rank) ranks.wake(rank);
  ranks.park(2);  // was woken meanwhile
  EXPECT_EQ(ranks.activity_of(2), activity::ready);
  EXPECT_EQ(ranks.start_next(0), 1U);
  ranks.park(1);
  EXPECT_EQ(ranks.start_next(0), 2U);
  EXPECT_EQ(ranks.incoming(), 0U);
}

TEST(scheduler, prefers_those_of_which_some_memory_is_left) {
  scheduler ranks(3, 1);
  for (int i = 0; i < 3; ++i) bring(ranks);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    ASSERT_EQ(ranks.start_next(0), rank);
    ranks.park(rank);
  }
  ranks.losing(0, true);
  ranks.losing(1, false);
  EXPECT_EQ(ranks.victim(false), 1U);  // goes on until nothing is left
  ranks.wake(0);
  ranks.wake(1);
  EXPECT_EQ(ranks.incoming(), 1U);
  EXPECT_EQ(ranks.incoming(), 0U);
}

TEST(scheduler, starts_no_other_one_while_one_needs_memory) {
  scheduler ranks(3, 1);
  for (int i = 0; i < 3; ++i) bring(ranks);
  ASSERT_EQ(ranks.start_next(0), 0U);
  ranks.need_memory(0);
  EXPECT_EQ(ranks.active_of(0), 0U);
  ranks.park(0);
  EXPECT_EQ(ranks.activity_of(0), activity::ready);
  EXPECT_EQ(ranks.presence_of(0), presence::absent);
  EXPECT_EQ(ranks.active_of(0), 0U);
  EXPECT_FALSE(ranks.start_next(0));
  EXPECT_FALSE(ranks.is_stuck());
  EXPECT_FALSE(ranks.incoming());
  EXPECT_FALSE(ranks.victim(false));
  EXPECT_EQ(ranks.victim(true), 2U);  // the last that is ready gives
  EXPECT_EQ(ranks.incoming_in_need(), 0U);
  EXPECT_FALSE(ranks.incoming_in_need());
  ranks.arrived(0);
  EXPECT_EQ(ranks.start_next(0), 0U);
  ranks.park(0);
  EXPECT_FALSE(ranks.active_of(0));
  EXPECT_EQ(ranks.start_next(0), 1U);
}

TEST(scheduler, tells_when_all_wait) {
  scheduler ranks(2, 1);
  for (int i = 0; i < 2; ++i) bring(ranks);
  ASSERT_EQ(ranks.start_next(0), 0U);
  ranks.end(0);
  EXPECT_FALSE(ranks.is_stuck());
  ASSERT_EQ(ranks.start_next(0), 1U);
  ranks.park(1);
  EXPECT_TRUE(ranks.is_stuck());
  ranks.wake(1);
  EXPECT_FALSE(ranks.is_stuck());
  ASSERT_EQ(ranks.start_next(0), 1U);
  EXPECT_TRUE(ranks.has_work(0));
  ranks.end(1);
  EXPECT_FALSE(ranks.is_stuck());
  EXPECT_FALSE(ranks.has_work(0));
}

// Random steps: each processor is in the state that the calls lead to, runs only if present, and
// all of them end.
TEST(scheduler, gets_all_processors_to_their_ends) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    auto const count = static_cast<std::uint32_t>(1 + random() % 12);
    auto const workers = static_cast<std::uint32_t>(1 + random() % 3);
    scheduler ranks(count, workers);
    std::vector<int> steps(count);  // that each has done
    std::vector<std::uint32_t> running;
    std::uint32_t ended = 0;
    for (std::size_t turn = 0; ended < count; ++turn) {
      ASSERT_LT(turn, 100'000U);
      if (random() % 2 == 0) {
        std::optional<std::uint32_t> rank = ranks.incoming_in_need();
        if (!rank) rank = ranks.incoming();
        if (rank) {
          ASSERT_EQ(ranks.activity_of(*rank), activity::ready);
          ranks.arrived(*rank);
        }
      }
      if (random() % 3 == 0) {
        if (std::optional<std::uint32_t> const rank = ranks.victim(random() % 2 == 0)) {
          ASSERT_NE(ranks.activity_of(*rank), activity::running);
          ranks.losing(*rank, random() % 2 == 0);
        }
      }
      if (std::optional<std::uint32_t> const rank =
              ranks.start_next(static_cast<std::uint32_t>(random() % workers))) {
        ASSERT_EQ(ranks.presence_of(*rank), presence::present);
        running.push_back(*rank);
      }
      if (!running.empty() && random() % 2 == 0) {
        std::uint32_t const rank = running.back();
        running.pop_back();
        if (++steps[rank] == 5) {
          ranks.end(rank);
          ++ended;
        } else {
          if (random() % 4 == 0) ranks.need_memory(rank);
          ranks.park(rank);
        }
      }
      auto const woken = static_cast<std::uint32_t>(random() % count);
      if (random() % 4 == 0) ranks.wake(woken);
      ASSERT_EQ(
          ranks.is_stuck(), ended < count && running.empty() && [&] {
            for (std::uint32_t rank = 0; rank < count; ++rank) {
              if (ranks.activity_of(rank) == activity::ready) return false;
            }
            return true;
          }());
    }
  }
}

}  // namespace
}  // namespace outsize::bsp::detail
