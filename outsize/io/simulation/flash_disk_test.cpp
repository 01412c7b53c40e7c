// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/simulation/flash_disk.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>

namespace outsize::io {
namespace {

using namespace std::chrono_literals;

constexpr flash_disk_options nanosecond_per_byte{.capacity_bytes = 1'000'000,
                                                 .bytes_per_second = 1'000'000'000,
                                                 .read_latency = 100us,
                                                 .write_latency = 10us,
                                                 .units = 2};

TEST(flash_disk, takes_latency_and_transfer_wherever_the_bytes_are) {
  auto options = nanosecond_per_byte;
  options.units = 1;
  flash_disk disk(options);
  EXPECT_EQ(disk.serve({operation::read, 0, 1000}).end, 101us);
  EXPECT_EQ(disk.serve({operation::read, 900'000, 1000}).end, 202us);
  auto const written = disk.serve({operation::write, 0, 2000});
  EXPECT_EQ(written.time, (disk_time{.overhead = 10us, .transfer = 2us}));
  EXPECT_EQ(written.end, 214us);
}

TEST(flash_disk, latencies_overlap_and_transfers_do_not) {
  flash_disk disk(nanosecond_per_byte);
  EXPECT_EQ(disk.serve({operation::read, 0, 1000}).end, 101us);
  EXPECT_EQ(disk.serve({operation::read, 0, 1000}).end, 102us) << "behind the first on the link";
  EXPECT_EQ(disk.serve({operation::read, 0, 1000}).end, 202us) << "by the unit free at 101";
  EXPECT_EQ(disk.serve({operation::read, 0, 1000, 500us}).end, 601us) << "came late";
}

TEST(flash_disk, ends_at_its_capacity) {
  flash_disk disk(nanosecond_per_byte);
  EXPECT_EQ(disk.capacity_bytes(), 1'000'000U);
  EXPECT_EQ(disk.serve({operation::read, 999'000, 5000}).time.transfer, 1us);
  EXPECT_EQ(disk.serve({operation::read, 2'000'000, 5000}).time.transfer, 0us);
}

TEST(flash_disk, refuses_what_cannot_be_built) {
  auto const refuses = [](auto change) {
    auto options = nanosecond_per_byte;
    change(options);
    EXPECT_THROW(flash_disk{options}, std::invalid_argument);
  };
  refuses([](auto& o) { o.units = 0; });
  refuses([](auto& o) { o.bytes_per_second = 0; });
  refuses([](auto& o) { o.read_latency = -1ns; });
}

}  // namespace
}  // namespace outsize::io
