// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/side_thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <thread>
#include <vector>

#include <outsize/base/executor.hpp>

namespace outsize::detail {
namespace {

TEST(side_thread, does_errands_one_after_the_other) {
  side_thread side;
  side.wait();
  int done = 0;
  for (int i = 0; i < 100; ++i) {
    side.start([&] { ++done; });
    side.wait();
    ASSERT_EQ(done, i + 1);
  }
}

TEST(side_thread, goes_on_beside_its_owner) {
  side_thread side;
  std::atomic<int> step = 0;
  side.start([&] {
    step = 1;
    while (step < 2) std::this_thread::yield();
  });
  while (step < 1) std::this_thread::yield();
  step = 2;
  side.wait();
}

TEST(side_thread, tells_of_exceptions_once) {
  side_thread side;
  side.start([] { throw std::runtime_error("errand"); });
  EXPECT_THROW(side.wait(), std::runtime_error);
  side.wait();
  side.start([] {});
  side.wait();
}

TEST(side_thread, finishes_its_errand_before_it_ends) {
  bool is_done = false;
  {
    side_thread side;
    side.start([&] { is_done = true; });
  }
  EXPECT_TRUE(is_done);
}

TEST(side_thread, is_waited_for_in_bodies_without_their_places) {
  executor team(2);
  std::atomic<int> runs = 0;
  team.parallel_for(2, [&](std::size_t) {
    side_thread side;
    side.start([&] { team.parallel_for(4, [&](std::size_t) { ++runs; }); });
    executor::absence const waiting;  // within which another one has no effect
    side.wait();
  });
  EXPECT_EQ(runs, 8);
}

TEST(side_thread, shares_work_with_a_team) {
  executor team(2);
  side_thread side;
  std::vector<std::atomic<int>> runs(50);
  side.start([&] { team.parallel_for(50, [&](std::size_t i) { ++runs[i]; }); });
  team.parallel_for(50, [&](std::size_t i) { ++runs[i]; });
  side.wait();
  for (auto const& run : runs) EXPECT_EQ(run, 2);
}

}  // namespace
}  // namespace outsize::detail
