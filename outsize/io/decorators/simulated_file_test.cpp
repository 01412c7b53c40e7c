// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/decorators/simulated_file.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <random>
#include <vector>

#include <outsize/io/memory_file.hpp>
#include <outsize/io/simulation/rotating_disk.hpp>

namespace outsize::io {
namespace {

using namespace std::chrono_literals;
using disk_ptr = std::shared_ptr<simulated_disk>;

// A revolution of 10 ms; a byte passes in 1 µs.
disk_ptr make_disk(disk_pace pace = disk_pace::no_waiting,
                   std::chrono::nanoseconds overhead = 500us) {
  rotating_disk_options const options{.rpm = 6000,
                                      .heads = 1,
                                      .zones = {{100, 10'000}},
                                      .seek = {.near_ms = 1, .near_root_ms = 1},
                                      .overhead = overhead};
  return std::make_shared<simulated_disk>(std::make_unique<rotating_disk>(options), pace);
}

file_ptr make_file_on(disk_ptr disk, std::uint64_t begin_bytes = 0) {
  auto content = make_memory_file("simulated", disk->capacity_bytes() - begin_bytes);
  return std::make_unique<simulated_file>(std::move(content), std::move(disk), begin_bytes);
}

TEST(simulated_file, charges_the_disk_and_keeps_the_bytes) {
  auto const disk = make_disk();
  auto const target = make_file_on(disk);
  std::array<std::byte, 100> bytes{};
  bytes.fill(std::byte{7});
  target->write(0, bytes)->wait();
  EXPECT_EQ(disk->elapsed(), 10'100us);
  target->write(100, bytes)->wait();
  EXPECT_EQ(disk->elapsed(), 10'200us);
  std::array<std::byte, 100> into{};
  EXPECT_EQ(target->read(50, into)->wait(), 100U);
  EXPECT_EQ(into, bytes);
  // Byte 50 passes a revolution after it was written.
  EXPECT_EQ(disk->elapsed(), 20'150us);
  EXPECT_EQ(disk->request_count(), 3U);
}

TEST(simulated_file, files_on_one_disk_share_its_arm) {
  auto const disk = make_disk();
  auto const near = make_file_on(disk);
  auto const far = make_file_on(disk, 90'000);
  std::array<std::byte, 100> bytes{};
  near->write(0, bytes)->wait();
  EXPECT_EQ(disk->time().seek, 0ns);
  far->write(0, bytes)->wait();
  EXPECT_EQ(disk->time().seek, 4ms) << "nine cylinders";
  near->write(100, bytes)->wait();
  EXPECT_EQ(disk->time().seek, 8ms);
}

TEST(simulated_file, disks_work_side_by_side) {
  std::array<std::byte, 1000> bytes{};
  auto const parallel_time = [&](std::size_t disk_count) {
    std::vector<disk_ptr> disks;
    std::vector<file_ptr> files;
    for (std::size_t d = 0; d < disk_count; ++d) {
      disks.push_back(make_disk());
      files.push_back(make_file_on(disks.back()));
    }
    for (std::size_t i = 0; i < 40; ++i)
      files[i % disk_count]->write(i / disk_count * bytes.size(), bytes)->wait();
    std::chrono::nanoseconds longest{0};
    for (auto const& disk : disks) longest = std::max(longest, disk->elapsed());
    return longest;
  };
  // 10 ms for the first byte, 1 ms for a request, 2 ms for the next cylinder after ten of them.
  EXPECT_EQ(parallel_time(1), 56ms);
  EXPECT_EQ(parallel_time(4), 20ms);
}

TEST(simulated_file, the_same_requests_take_the_same_time) {
  auto const run = [] {
    auto const disk = make_disk();
    auto const target = make_file_on(disk);
    std::array<std::byte, 300> bytes{};
    std::mt19937_64 random(5);
    for (int i = 0; i < 500; ++i) {
      auto const offset = random() % 900'000;
      if (random() % 2 == 0) {
        target->write(offset, bytes)->wait();
      } else {
        target->read(offset, bytes)->wait();
      }
    }
    return disk->time();
  };
  EXPECT_EQ(run(), run());
}

TEST(simulated_file, in_real_time_a_waiting_request_can_be_cancelled) {
  auto const target = make_file_on(make_disk(disk_pace::real_time, 1h));
  std::array<std::byte, 8> bytes{};
  auto const waiting = target->write(0, bytes);
  EXPECT_FALSE(waiting->poll());
  EXPECT_TRUE(waiting->cancel());
  EXPECT_EQ(target->size_bytes(), 0U);
}

// Only a lower bound: nothing says how busy the machine is.
TEST(simulated_file, in_real_time_a_request_takes_its_time) {
  auto const disk = make_disk(disk_pace::real_time, 5ms);
  auto const target = make_file_on(disk);
  std::array<std::byte, 8> bytes{};
  auto const start = delay_line::clock::now();
  target->write(0, bytes)->wait();
  EXPECT_GE(delay_line::clock::now() - start, disk->time().total());
  EXPECT_GE(disk->time().total(), 5ms);
}

}  // namespace
}  // namespace outsize::io
