// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/simulation/simulated_disk.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include <outsize/io/simulation/flash_disk.hpp>

namespace outsize::io {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<disk_model> nanosecond_per_byte() {
  return std::make_unique<flash_disk>(flash_disk_options{.capacity_bytes = 1'000'000,
                                                         .bytes_per_second = 1'000'000'000,
                                                         .read_latency = 100us,
                                                         .write_latency = 10us,
                                                         .units = 1});
}

TEST(simulated_disk, adds_up_what_its_requests_take) {
  simulated_disk disk(nanosecond_per_byte());
  EXPECT_EQ(disk.capacity_bytes(), 1'000'000U);
  EXPECT_EQ(disk.elapsed(), 0ns);
  EXPECT_FALSE(disk.serve({operation::read, 0, 1000})) << "at once";
  EXPECT_FALSE(disk.serve({operation::write, 0, 2000, 1h})) << "as if it had always been there";
  EXPECT_EQ(disk.elapsed(), 113us);
  EXPECT_EQ(disk.time(), (disk_time{.overhead = 110us, .transfer = 3us}));
  EXPECT_EQ(disk.request_count(), 2U);
}

TEST(simulated_disk, in_real_time_requests_end_when_they_would) {
  auto const before = delay_line::clock::now();
  simulated_disk disk(nanosecond_per_byte(), disk_pace::real_time);
  auto const first = disk.serve({operation::read, 0, 1000});
  auto const second = disk.serve({operation::read, 0, 1000});
  ASSERT_TRUE(first && second);
  EXPECT_GE(*first - before, 101us);
  EXPECT_GE(*second - *first, 101us) << "behind the first, or later";
  EXPECT_GE(disk.elapsed(), 202us);
  EXPECT_EQ(disk.time().total(), 202us) << "idle times are no part of it";
}

}  // namespace
}  // namespace outsize::io
