// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/statistics.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace outsize::io {
namespace {

TEST(statistics, adds_up_by_kind) {
  statistics counter;
  counter.add_request(operation::read, 10, 100);
  counter.add_request(operation::read, 20, 200);
  counter.add_request(operation::write, 5, 50);
  counter.add_wait(7);
  statistics_snapshot const expected{.read_count = 2,
                                     .read_bytes = 30,
                                     .read_time_ns = 300,
                                     .write_count = 1,
                                     .write_bytes = 5,
                                     .write_time_ns = 50,
                                     .wait_ns = 7};
  auto now = counter.snapshot();
  now.busy_ns = 0;
  EXPECT_EQ(now, expected);
}

TEST(statistics, knows_how_long_requests_were_under_way) {
  constexpr std::uint64_t second = 1'000'000'000;
  statistics counter;
  counter.add_request(operation::read, 10, second);
  EXPECT_EQ(counter.snapshot().busy_ns, second);
  counter.add_request(operation::write, 10, second);  // most of it at the same time
  auto const both = counter.snapshot();
  EXPECT_GE(both.busy_ns, second);
  EXPECT_LE(both.busy_ns, both.read_time_ns + both.write_time_ns);
  counter.add_request(operation::read, 10, 0);
  EXPECT_GE(counter.snapshot().busy_ns, both.busy_ns);
}

TEST(statistics, snapshots_add_and_subtract) {
  statistics counter;
  counter.add_request(operation::read, 10, 100);
  counter.add_wait(1);
  auto const before = counter.snapshot();
  counter.add_request(operation::read, 20, 200);
  counter.add_request(operation::write, 5, 50);
  counter.add_wait(2);
  auto const after = counter.snapshot();
  auto const phase = after - before;
  EXPECT_EQ(phase.read_count, 1U);
  EXPECT_EQ(phase.read_bytes, 20U);
  EXPECT_EQ(phase.write_time_ns, 50U);
  EXPECT_EQ(phase.wait_ns, 2U);
  EXPECT_EQ(before + phase, after);
  EXPECT_EQ(after - after, statistics_snapshot{});
}

TEST(statistics, loses_nothing_with_many_threads) {
  statistics counter;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) counter.add_request(operation::write, 2, 3);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(counter.snapshot().write_count, 4000U);
  EXPECT_EQ(counter.snapshot().write_bytes, 8000U);
  EXPECT_EQ(counter.snapshot().write_time_ns, 12000U);
}

}  // namespace
}  // namespace outsize::io
