// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/decorators/fault_plan.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <vector>

namespace outsize::io {
namespace {

TEST(fault_plan, hits_the_scripted_calls_and_no_others) {
  fault_plan plan;
  plan.script(fault_point::read, 2, fault::fail(EIO));
  plan.script(fault_point::write, 1, fault::fail(ENOSPC), 2);
  std::vector<int> reads;
  std::vector<int> writes;
  for (int i = 0; i < 4; ++i) {
    reads.push_back(plan.next(fault_point::read, 8).value_or(fault{}).error_number);
    writes.push_back(plan.next(fault_point::write, 8).value_or(fault{}).error_number);
  }
  EXPECT_EQ(reads, (std::vector<int>{0, 0, EIO, 0}));
  EXPECT_EQ(writes, (std::vector<int>{0, ENOSPC, ENOSPC, 0}));
  EXPECT_EQ(plan.calls(fault_point::read), 4U);
  EXPECT_EQ(plan.calls(fault_point::allocate), 0U);
  EXPECT_EQ(plan.injected(), 3U);
}

TEST(fault_plan, fails_until_its_script_ends) {
  fault_plan plan;
  EXPECT_FALSE(plan.next(fault_point::write, 100));
  plan.fail_from_now_on(fault_point::write, EIO);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(plan.next(fault_point::write, 100)->error_number, EIO);
  EXPECT_FALSE(plan.next(fault_point::read, 100));
  plan.end_script();
  EXPECT_FALSE(plan.next(fault_point::write, 100));
}

TEST(fault_plan, the_same_seed_gives_the_same_faults) {
  fault_odds const odds{.seed = 7, .fail = 0.1, .interrupt = 0.2, .shorten = 0.3, .hold = 0.3};
  fault_plan a(odds);
  fault_plan b(odds);
  int faults = 0;
  for (int i = 0; i < 1000; ++i) {
    auto const x = a.next(fault_point::write, 4096);
    auto const y = b.next(fault_point::write, 4096);
    ASSERT_EQ(x.has_value(), y.has_value());
    if (!x) continue;
    ++faults;
    ASSERT_EQ(x->error_number, y->error_number);
    ASSERT_EQ(x->at_most_bytes, y->at_most_bytes);
    ASSERT_EQ(x->delay, y->delay);
    ASSERT_LT(x->at_most_bytes, 4096U);
    ASSERT_LE(x->delay, odds.max_delay);
  }
  EXPECT_GT(faults, 500);
  EXPECT_LT(faults, 800);
}

TEST(fault_plan, without_script_and_odds_nothing_goes_wrong) {
  fault_plan plan;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(plan.next(fault_point::read, 8));
}

}  // namespace
}  // namespace outsize::io
