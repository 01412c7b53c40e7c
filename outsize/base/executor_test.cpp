// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/executor.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <outsize/testing/few_threads.hpp>

namespace outsize {
namespace {

TEST(executor, runs_each_body_once) {
  executor team(3);
  EXPECT_EQ(team.threads(), 3U);
  for (std::size_t count : {0U, 1U, 2U, 3U, 1000U}) {
    std::vector<std::atomic<int>> runs(count);
    team.parallel_for(count, [&](std::size_t i) { ++runs[i]; });
    for (auto const& r : runs) EXPECT_EQ(r, 1);
  }
}

TEST(executor, works_with_a_single_thread) {
  executor team(1);
  int sum = 0;
  team.parallel_for(10, [&](std::size_t i) { sum += static_cast<int>(i); });
  EXPECT_EQ(sum, 45);
}

TEST(executor, rethrows_the_first_failure_and_skips_what_has_not_begun) {
  executor team(1);
  std::size_t runs = 0;
  try {
    team.parallel_for(100, [&](std::size_t i) {
      ++runs;
      if (i == 3) throw std::runtime_error("body 3");
    });
    FAIL() << "did not throw";
  } catch (std::runtime_error const& error) {
    EXPECT_STREQ(error.what(), "body 3");
  }
  EXPECT_EQ(runs, 4U);
  team.parallel_for(5, [&](std::size_t) { ++runs; });
  EXPECT_EQ(runs, 9U) << "the team goes on after a failure";
}

TEST(executor, rethrows_the_failure_of_the_lowest_index) {
  executor team(4);
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> begun{0};
    try {
      team.parallel_for(4, [&](std::size_t i) {
        ++begun;
        while (begun < 4) std::this_thread::yield();
        throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "did not throw";
    } catch (std::runtime_error const& error) {
      EXPECT_STREQ(error.what(), "0");
    }
  }
}

TEST(executor, has_the_caller_do_what_he_can) {
  executor team(2);
  std::vector<std::thread::id> ran(2);
  team.parallel_for(1, [&](std::size_t i) { ran[i] = std::this_thread::get_id(); });
  EXPECT_EQ(ran[0], std::this_thread::get_id());
  std::atomic<int> begun{0};
  team.parallel_for(2, [&](std::size_t i) {
    ran[i] = std::this_thread::get_id();
    ++begun;
    while (begun < 2) std::this_thread::yield();
  });
  EXPECT_TRUE((ran[0] == std::this_thread::get_id()) != (ran[1] == std::this_thread::get_id()));
}

TEST(executor, runs_no_more_at_once_than_it_has_threads_whoever_calls) {
  for (std::size_t const threads : {1U, 2U, 3U}) {
    executor team(threads);
    std::atomic<std::size_t> running{0}, most{0}, runs{0};
    std::vector<std::thread> callers;
    for (int c = 0; c < 5; ++c)
      callers.emplace_back([&, c] {
        for (int round = 0; round < 48; ++round)
          team.parallel_for(static_cast<std::size_t>(1 + (c + round) % 4), [&](std::size_t) {
            std::size_t const now = ++running;
            for (std::size_t seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
            }
            std::this_thread::yield();
            ++runs;
            --running;
          });
      });
    for (auto& caller : callers) caller.join();
    EXPECT_LE(most, threads);
    EXPECT_EQ(runs, 5U * 48 / 4 * (1 + 2 + 3 + 4));
  }
}

TEST(executor, lets_nobody_wait_for_one_who_calls_again_and_again) {
  executor team(1);
  int fewest = 1000;  // calls that went past one that waited, of many trials, as it may be late
  for (int trial = 0; trial < 20; ++trial) {
    std::atomic<bool> is_calling{false}, has_run{false};
    std::thread other;
    team.parallel_for(1, [&](std::size_t) {
      other = std::thread([&] {
        is_calling = true;
        team.parallel_for(1, [&](std::size_t) { has_run = true; });
      });
      while (!is_calling) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    int went_past = 0;
    for (; !has_run && went_past < fewest; ++went_past) team.parallel_for(1, [](std::size_t) {});
    fewest = std::min(fewest, went_past);
    other.join();
  }
  EXPECT_LE(fewest, 1);
}

TEST(executor, goes_on_with_other_calls_where_a_caller_leaves_his_place) {
  executor team(2);
  for (int round = 0; round < 200; ++round) {
    std::atomic<bool> is_waiting{false}, other_has_run{false};
    std::thread other;
    team.parallel_for(2, [&](std::size_t i) {
      if (i == 0) {
        // Both places are taken until one of these ends; the other call must not wait for both.
        other = std::thread([&] {
          is_waiting = true;
          team.parallel_for(1, [&](std::size_t) { other_has_run = true; });
        });
        while (!is_waiting) std::this_thread::yield();
      } else {
        while (!other_has_run) std::this_thread::yield();
      }
    });
    other.join();
    EXPECT_TRUE(other_has_run);
  }
}

TEST(executor, serves_several_callers_at_once) {
  executor team(2);
  std::atomic<std::size_t> sum{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round)
        team.parallel_for(7, [&](std::size_t i) { sum += i; });
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(sum, 4U * 100 * 21);
}

TEST(executor, has_a_call_within_a_body_run_by_the_thread_of_the_body) {
  for (std::size_t const threads : {1U, 2U, 3U}) {
    executor team(threads), other(2);
    std::atomic<std::size_t> runs{0}, elsewhere{0};
    team.parallel_for(4, [&](std::size_t) {
      auto const here = std::this_thread::get_id();
      auto const innermost = [&](std::size_t) {
        ++runs;
        if (std::this_thread::get_id() != here) ++elsewhere;
      };
      team.parallel_for(3, [&](std::size_t) { other.parallel_for(2, innermost); });
      other.parallel_for(2, [&](std::size_t) { team.parallel_for(3, innermost); });
    });
    EXPECT_EQ(runs, 4U * (3 * 2 + 2 * 3));
    EXPECT_EQ(elsewhere, 0U);
  }
}

TEST(executor, rethrows_what_a_body_within_a_body_throws) {
  executor team(2);
  std::atomic<int> runs{0};
  EXPECT_THROW(team.parallel_for(1,
                                 [&](std::size_t) {
                                   team.parallel_for(5, [&](std::size_t i) {
                                     ++runs;
                                     if (i == 2) throw std::runtime_error("body 2");
                                   });
                                 }),
               std::runtime_error);
  EXPECT_EQ(runs, 3);
  team.parallel_for(5, [&](std::size_t) { ++runs; });
  EXPECT_EQ(runs, 8);
}

/// All bodies wait until another thread has had a call carried out.
void wait_in_all_bodies(executor& team, std::size_t count) {
  std::atomic<std::size_t> waiting{0};
  std::atomic<bool> has_run{false};
  std::thread other([&] {
    while (waiting < team.threads()) std::this_thread::yield();
    team.parallel_for(4, [&](std::size_t) {});
    has_run = true;
  });
  team.parallel_for(count, [&](std::size_t) {
    executor::absence const waits;
    ++waiting;
    while (!has_run) std::this_thread::yield();
  });
  other.join();
}

TEST(executor, gives_places_of_bodies_that_wait_to_others) {
  for (std::size_t const threads : {1U, 2U, 3U}) {
    executor team(threads);
    for (int round = 0; round < 20; ++round)
      for (std::size_t const count : {threads, threads + 5}) wait_in_all_bodies(team, count);
    std::atomic<std::size_t> sum{0};
    team.parallel_for(5, [&](std::size_t i) { sum += i; });
    EXPECT_EQ(sum, 10U);
  }
  executor::absence const elsewhere;  // has no effect
}

TEST(executor, lets_callers_go_on_whose_locks_the_bodies_of_others_wait_for) {
  executor team(2);
  std::mutex contended;
  std::atomic<std::size_t> entered{0}, done{0};
  std::unique_lock mine(contended);
  std::vector<std::thread> others;
  for (int caller = 0; caller < 3; ++caller)
    others.emplace_back([&] {
      team.parallel_for(4, [&](std::size_t) {
        ++entered;
        std::lock_guard const held(contended);
        ++done;
      });
    });
  while (entered < team.threads()) std::this_thread::yield();
  team.parallel_for(3, [&](std::size_t) { ++done; });
  EXPECT_EQ(done, 3U);
  mine.unlock();
  for (auto& other : others) other.join();
  EXPECT_EQ(done, 3U + 12U);
}

/// Ends the process; with 0 if it was told.
[[noreturn]] void start_more_than_allowed() {
  allow_threads(3);
  try {
    executor const team(10);
  } catch (std::system_error const&) {
    std::_Exit(0);
  }
  std::_Exit(1);
}

TEST(executor, throws_if_the_system_starts_no_more_threads) {
  EXPECT_EXIT(start_more_than_allowed(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace outsize
