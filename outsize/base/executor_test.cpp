// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/executor.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

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

}  // namespace
}  // namespace outsize
