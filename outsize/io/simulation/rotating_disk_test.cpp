// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/simulation/rotating_disk.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <stdexcept>

namespace outsize::io {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

// A revolution of 10 ms; a byte passes in 1 µs outside (tracks 0 to 7), in 2 µs inside (8 to 15).
rotating_disk_options small_disk() {
  return {.rpm = 6000,
          .heads = 2,
          .zones = {{4, 10'000}, {4, 5'000}},
          .seek = {.near_ms = 1, .near_root_ms = 1},
          .head_switch = 1ms,
          .overhead = 500us};
}
constexpr std::uint64_t inner_zone = 80'000;
constexpr std::uint64_t capacity = 120'000;

disk_request read(std::uint64_t offset_bytes, std::uint64_t length_bytes) {
  return {operation::read, offset_bytes, length_bytes};
}
disk_request write(std::uint64_t offset_bytes, std::uint64_t length_bytes) {
  return {operation::write, offset_bytes, length_bytes};
}

TEST(rotating_disk, waits_for_the_first_byte_and_lets_the_rest_pass) {
  rotating_disk disk(small_disk());
  EXPECT_EQ(disk.capacity_bytes(), capacity);
  EXPECT_EQ(disk.revolution(), 10ms);
  auto const first = disk.serve(read(0, 10));
  EXPECT_EQ(first.time, (disk_time{.overhead = 500us, .rotation = 9500us, .transfer = 10us}));
  EXPECT_EQ(first.end, 10'010us);
}

TEST(rotating_disk, a_continuation_takes_its_transfer_only) {
  rotating_disk disk(small_disk());
  disk.serve(read(0, 10));
  EXPECT_EQ(disk.serve(read(10, 90)).time, disk_time{.transfer = 90us});
  // Not in the other direction: the byte has passed when the overhead is over.
  EXPECT_EQ(disk.serve(write(100, 10)).time,
            (disk_time{.overhead = 500us, .rotation = 9500us, .transfer = 10us}));
}

TEST(rotating_disk, seeks_by_the_root_of_the_distance) {
  rotating_disk disk(small_disk());
  EXPECT_EQ(disk.serve(read(0, 1000)).end, 11ms);
  // Four cylinders inwards: 1 + 1 * sqrt(4) ms. There at 14.5 ms, 4.5 ms after angle 0; the track
  // begins at 2 ms: four head switches and four seeks of one cylinder, 12 ms, after track 0.
  auto const far = disk.serve(read(inner_zone, 1000));
  EXPECT_EQ(far.time,
            (disk_time{.overhead = 500us, .seek = 3ms, .rotation = 7500us, .transfer = 2ms}));
  EXPECT_EQ(far.end, 24ms);
  // And back: there at 27.5 ms, and byte 2000 of track 0 passes at 32 ms.
  EXPECT_EQ(disk.serve(read(2000, 1)).time,
            (disk_time{.overhead = 500us, .seek = 3ms, .rotation = 4500us, .transfer = 1us}));
}

TEST(rotating_disk, another_head_of_the_cylinder_takes_a_head_switch) {
  rotating_disk disk(small_disk());
  disk.serve(read(0, 1000));
  // There at 12.5 ms; the track is skewed by 1 ms, and its byte 5000 passes at 16 ms.
  EXPECT_EQ(disk.serve(read(15'000, 1)).time,
            (disk_time{.overhead = 500us, .seek = 1ms, .rotation = 3500us, .transfer = 1us}));
}

TEST(rotating_disk, loses_no_revolution_between_tracks) {
  rotating_disk disk(small_disk());
  auto const whole = disk.serve(read(0, capacity));
  // 16 tracks, 8 head switches and 7 cylinders.
  EXPECT_EQ(whole.time,
            (disk_time{.overhead = 500us, .seek = 22ms, .rotation = 9500us, .transfer = 160ms}));
}

TEST(rotating_disk, parts_in_sequence_take_the_time_of_the_whole) {
  rotating_disk disk(small_disk());
  rotating_disk other(small_disk());
  disk_time sum;
  for (std::uint64_t at = 0; at < capacity; at += 777) sum += disk.serve(read(at, 777)).time;
  EXPECT_EQ(sum, other.serve(read(0, capacity)).time);
}

TEST(rotating_disk, outer_tracks_are_faster) {
  rotating_disk disk(small_disk());
  EXPECT_EQ(disk.serve(read(0, 40'000)).time.transfer, 40ms);
  EXPECT_EQ(disk.serve(read(inner_zone, 40'000)).time.transfer, 80ms);
}

TEST(rotating_disk, random_requests_take_longer_than_sequential_ones) {
  rotating_disk sequential{rotating_disk_options{}};
  rotating_disk random{rotating_disk_options{}};
  std::mt19937_64 source(1);
  nanoseconds last{0};
  for (std::uint64_t i = 0; i < 1000; ++i) {
    sequential.serve(read(i * 4096, 4096));
    last = random.serve(read(source() % (random.capacity_bytes() / 4096) * 4096, 4096)).end;
  }
  // A third of the cylinders and half a revolution: 8 ms and 4.2 ms, give or take.
  EXPECT_GT(last / 1000, 10ms);
  EXPECT_LT(last / 1000, 15ms);
  EXPECT_LT(sequential.serve(read(1000 * 4096, 4096)).end, 50ms);
}

TEST(rotating_disk, knows_to_the_nanosecond_what_is_below_its_head) {
  auto options = small_disk();
  options.rpm = 7000;
  options.zones = {{5, 9973}, {3, 7919}, {7, 5003}};
  options.overhead = 0ns;
  rotating_disk disk(options);
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    // The byte after the request, in the other direction, is no continuation; but it is there.
    std::uint64_t const offset = random() % (disk.capacity_bytes() - 3000);
    std::uint64_t const length = 1 + random() % 2000;
    disk.serve(read(offset, length));
    auto const next = disk.serve(write(offset + length, 1)).time;
    EXPECT_EQ(next.rotation, 0ns) << offset << " " << length;
  }
}

TEST(rotating_disk, is_idle_until_a_request_arrives) {
  rotating_disk disk(small_disk());
  EXPECT_EQ(disk.serve({operation::read, 0, 10, 99ms}).end, 100'010us);
  EXPECT_EQ(disk.serve({operation::read, 5000, 10, 99ms}).end, 105'010us) << "after the first";
}

TEST(rotating_disk, what_is_beyond_its_end_takes_no_time) {
  rotating_disk disk(small_disk());
  auto const last = disk.serve(read(capacity - 5, 100));
  EXPECT_EQ(last.time.transfer, 10us);
  EXPECT_EQ(disk.serve(read(capacity, 100)).end, last.end);
}

TEST(rotating_disk, hp_97560_is_as_published) {
  rotating_disk const disk(hp_97560());
  EXPECT_EQ(disk.capacity_bytes(), 1'374'216'192U);
  EXPECT_EQ(disk.revolution(), 14'992'504ns);
  auto const seek = hp_97560().seek;
  EXPECT_EQ(seek(0), 0ns);
  EXPECT_EQ(seek(1), 3640us);
  EXPECT_EQ(seek(100), 7240us);
  EXPECT_EQ(seek(383), 11'064us);
  EXPECT_EQ(seek(1961), 23'688us);
}

TEST(rotating_disk, refuses_what_cannot_be_built) {
  auto const refuses = [](auto change) {
    auto options = small_disk();
    change(options);
    EXPECT_THROW(rotating_disk{options}, std::invalid_argument);
  };
  refuses([](auto& o) { o.heads = 0; });
  refuses([](auto& o) { o.zones.clear(); });
  refuses([](auto& o) { o.zones.back().cylinders = 0; });
  refuses([](auto& o) { o.zones.back().track_bytes = 0; });
  refuses([](auto& o) { o.overhead = -1ns; });
  refuses([](auto& o) { o.seek.near_ms = -1; });
  refuses([](auto& o) { o.rpm = 0; });
}

}  // namespace
}  // namespace outsize::io
