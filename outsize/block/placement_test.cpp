// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Any D consecutive blocks of a sequence lie on D different disks, whatever the kind, seed and
// number.

#include <outsize/block/placement.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <vector>

namespace outsize::block {
namespace {

std::vector<std::uint32_t> disks_of(placement_kind kind, std::uint32_t disk_count,
                                    std::uint64_t seed, std::uint64_t sequence,
                                    std::size_t block_count) {
  auto const where = make_placement(kind, disk_count, seed, sequence);
  std::vector<std::uint32_t> disks(block_count);
  for (auto& disk : disks) disk = where->next_disk();
  return disks;
}

TEST(placement, puts_consecutive_blocks_on_different_disks) {
  for (auto const kind : {placement_kind::striping, placement_kind::randomized_cycling})
    for (std::uint32_t disk_count : {1U, 2U, 3U, 7U})
      for (std::uint64_t sequence = 0; sequence < 10; ++sequence) {
        auto const disks = disks_of(kind, disk_count, 5, sequence, 4 * disk_count);
        for (std::size_t i = 0; i + disk_count <= disks.size(); ++i) {
          std::set<std::uint32_t> const window(
              disks.begin() + static_cast<std::ptrdiff_t>(i),
              disks.begin() + static_cast<std::ptrdiff_t>(i + disk_count));
          ASSERT_EQ(window.size(), disk_count);
          ASSERT_LT(*window.rbegin(), disk_count);
        }
      }
}

TEST(placement, stripes_sequences_from_different_disks) {
  EXPECT_EQ(disks_of(placement_kind::striping, 3, 1, 0, 5),
            (std::vector<std::uint32_t>{0, 1, 2, 0, 1}));
  EXPECT_EQ(disks_of(placement_kind::striping, 3, 1, 4, 5),
            (std::vector<std::uint32_t>{1, 2, 0, 1, 2}));
}

TEST(placement, is_decided_by_seed_and_sequence_number) {
  auto const cycling = placement_kind::randomized_cycling;
  std::set<std::vector<std::uint32_t>> orders;
  for (std::uint64_t sequence = 0; sequence < 50; ++sequence) {
    auto const order = disks_of(cycling, 8, 3, sequence, 8);
    EXPECT_EQ(order, disks_of(cycling, 8, 3, sequence, 8));
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 45U);
  EXPECT_NE(disks_of(cycling, 8, 3, 0, 8), disks_of(cycling, 8, 4, 0, 8));
}

TEST(placement, begins_random_cycles_on_every_disk_alike) {
  std::array<int, 4> firsts{};
  for (std::uint64_t sequence = 0; sequence < 4000; ++sequence)
    ++firsts[disks_of(placement_kind::randomized_cycling, 4, 9, sequence, 1)[0]];
  auto const [least, most] = std::ranges::minmax(firsts);
  EXPECT_GT(least, 850);
  EXPECT_LT(most, 1150);
}

}  // namespace
}  // namespace outsize::block
