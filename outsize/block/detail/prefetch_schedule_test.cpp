// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The schedule against the definition: disks that read one block in each step, m buffers, blocks
// used up in the order of need. The least number of steps is found by trying all schedules.

#include <outsize/block/detail/prefetch_schedule.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace outsize::block {
namespace {

using disks = std::vector<std::uint32_t>;

/// Steps that the reads take when issued in `order`, each as soon as a buffer is free, every disk
/// reading its oldest issued block in each step; 0 if they get stuck.
std::size_t steps_of(disks const& disk_of, std::uint32_t disk_count, std::size_t buffers,
                     std::vector<std::uint32_t> const& order) {
  std::vector<std::vector<std::uint32_t>> issued(disk_count);
  std::vector<char> is_read(disk_of.size(), 0);
  std::size_t next = 0, used_up = 0, steps = 0;
  while (used_up < disk_of.size()) {
    while (next < order.size() && next - used_up < buffers) {
      issued[disk_of[order[next]]].push_back(order[next]);
      ++next;
    }
    bool any = false;
    for (auto& queue : issued) {
      if (queue.empty()) continue;
      any = true;
      is_read[queue.front()] = 1;
      queue.erase(queue.begin());
    }
    if (!any) return 0;
    while (used_up < disk_of.size() && is_read[used_up] != 0) ++used_up;
    ++steps;
  }
  return steps;
}

/// The least number of steps of any schedule: breadth-first over the sets of blocks read.
std::size_t least_steps(disks const& disk_of, std::uint32_t disk_count, std::size_t buffers) {
  using state = std::uint32_t;  // bit i: block i has been read
  auto const used_up = [&](state s) { return static_cast<std::size_t>(std::countr_one(s)); };
  auto const all = static_cast<state>((std::uint64_t{1} << disk_of.size()) - 1);
  std::set<state> reached{0};
  for (std::size_t steps = 0;; ++steps) {
    if (reached.contains(all)) return steps;
    std::set<state> after;
    for (state s : reached) {
      // Each disk reads one of its blocks or none.
      std::vector<state> choices{s};
      for (std::uint32_t d = 0; d < disk_count; ++d)
        for (std::size_t c = choices.size(); c-- > 0;)
          for (std::size_t i = 0; i < disk_of.size(); ++i)
            if (disk_of[i] == d && (s >> i & 1) == 0) choices.push_back(choices[c] | state{1} << i);
      for (state c : choices)
        if (static_cast<std::size_t>(std::popcount(c)) <= used_up(s) + buffers) after.insert(c);
    }
    reached = std::move(after);
  }
}

std::string text_of(disks const& disk_of) {
  std::string text;
  for (auto d : disk_of) text += std::to_string(d) + " ";
  return text;
}

std::vector<std::uint32_t> prefetch_schedule(disks const& disk_of, std::uint32_t disk_count,
                                             std::size_t buffers) {
  return block::prefetch_schedule(disk_of, std::vector<std::uint64_t>(disk_count, 100), buffers);
}

TEST(prefetch_schedule, is_the_order_of_need_for_one_disk) {
  disks const disk_of(20, 0);
  std::vector<std::uint32_t> want(20);
  std::iota(want.begin(), want.end(), 0U);
  EXPECT_EQ(prefetch_schedule(disk_of, 1, 3), want);
  EXPECT_TRUE(prefetch_schedule({}, 1, 3).empty());
  EXPECT_TRUE(prefetch_schedule({}, 4, 3).empty());
}

TEST(prefetch_schedule, is_the_order_of_need_with_one_buffer) {
  disks const disk_of{0, 1, 1, 0, 2, 2, 1};
  std::vector<std::uint32_t> want(disk_of.size());
  std::iota(want.begin(), want.end(), 0U);
  EXPECT_EQ(prefetch_schedule(disk_of, 3, 1), want);
}

TEST(prefetch_schedule, fetches_from_an_idle_disk_before_its_turn) {
  // In the order of need disk 1 would stand idle during the first two steps.
  disks const disk_of{0, 0, 0, 1, 1, 1};
  EXPECT_EQ(steps_of(disk_of, 2, 3, prefetch_schedule(disk_of, 2, 3)), least_steps(disk_of, 2, 3));
}

TEST(prefetch_schedule, needs_the_least_number_of_steps) {
  std::uint64_t const seed = 17;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    auto const disk_count = static_cast<std::uint32_t>(2 + random() % 2);
    disks disk_of(1 + random() % 8);
    for (auto& d : disk_of) d = static_cast<std::uint32_t>(random() % disk_count);
    std::size_t const buffers = 1 + random() % 4;
    SCOPED_TRACE("seed " + std::to_string(seed) + ", buffers " + std::to_string(buffers) +
                 ", disks " + text_of(disk_of));
    ASSERT_EQ(
        steps_of(disk_of, disk_count, buffers, prefetch_schedule(disk_of, disk_count, buffers)),
        least_steps(disk_of, disk_count, buffers));
  }
}

TEST(prefetch_schedule, never_gets_stuck_and_never_loses_to_the_order_of_need) {
  std::uint64_t const seed = 23;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    auto const disk_count = static_cast<std::uint32_t>(2 + random() % 6);
    disks disk_of(random() % 300);
    std::uint32_t const skew = static_cast<std::uint32_t>(1 + random() % disk_count);
    for (auto& d : disk_of)
      d = static_cast<std::uint32_t>(random() % (random() % 2 ? disk_count : skew));
    std::size_t const buffers = 1 + random() % 20;
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    auto const order = prefetch_schedule(disk_of, disk_count, buffers);
    std::vector<std::uint32_t> naive(disk_of.size());
    std::iota(naive.begin(), naive.end(), 0U);
    ASSERT_TRUE(std::ranges::is_permutation(order, naive));
    if (disk_of.empty()) continue;
    std::size_t const steps = steps_of(disk_of, disk_count, buffers, order);
    ASSERT_GT(steps, 0U);
    ASSERT_LE(steps, steps_of(disk_of, disk_count, buffers, naive));
  }
}

/// Time that the reads take when issued in `order`, each as soon as a buffer is free, where disk d
/// takes times[d] for a block; 0 if they get stuck.
std::uint64_t time_of(disks const& disk_of, std::vector<std::uint64_t> const& times,
                      std::size_t buffers, std::vector<std::uint32_t> const& order) {
  std::vector<std::uint64_t> free_at(times.size(), 0), read_at(disk_of.size(), UINT64_MAX);
  std::size_t next = 0;
  std::uint64_t now = 0;
  for (std::size_t used_up = 0; used_up < disk_of.size(); ++used_up) {
    for (; next < order.size() && next - used_up < buffers; ++next) {
      auto& at = free_at[disk_of[order[next]]];
      read_at[order[next]] = at = std::max(at, now) + times[disk_of[order[next]]];
    }
    if (read_at[used_up] == UINT64_MAX) return 0;
    now = std::max(now, read_at[used_up]);
  }
  return now;
}

TEST(prefetch_schedule, keeps_disks_of_different_speeds_at_work) {
  std::uint64_t const seed = 29;
  std::mt19937_64 random(seed);
  std::uint64_t with = 0, without = 0, least = 0;  // time, where speeds are known and where not
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    std::vector<std::uint64_t> const times{1, 4};
    disks disk_of(400);  // divided by speed, as blocks are
    for (auto& d : disk_of) d = random() % 5 == 0 ? 1 : 0;
    std::size_t const buffers = 4 + random() % 8;
    auto const order = block::prefetch_schedule(disk_of, std::vector<std::uint64_t>{4, 1}, buffers);
    std::uint64_t const time = time_of(disk_of, times, buffers, order);
    ASSERT_GT(time, 0U);
    with += time;
    without += time_of(disk_of, times, buffers, prefetch_schedule(disk_of, 2, buffers));
    auto const on_slow = static_cast<std::uint64_t>(std::ranges::count(disk_of, 1U));
    least += std::max(400 - on_slow, 4 * on_slow);
  }
  EXPECT_LT(with, without);
  EXPECT_LT(static_cast<double>(with), 1.3 * static_cast<double>(least));
}

}  // namespace
}  // namespace outsize::block
