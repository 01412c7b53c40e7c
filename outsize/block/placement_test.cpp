// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Every strategy puts blocks where its definition says: exactly where it is deterministic, evenly
// where it is random, in proportion to the weights, and never on a disk that it may not use.

#include <outsize/block/placement.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace outsize::block {
namespace {

using disk_list = std::vector<std::uint32_t>;
using weight_list = std::vector<std::uint64_t>;
using enum placement_kind;

constexpr std::array all_kinds{striping, simple_randomized, fully_randomized, randomized_cycling,
                               single_disk};

weight_list alike(std::size_t disk_count) { return weight_list(disk_count, 1); }

struct sequence {
  std::uint64_t seed = 1;
  std::uint64_t number = 0;
};

disk_list disks_of(placement_options const& options, weight_list const& weights, sequence s,
                   std::size_t block_count) {
  auto const where = make_placement(options, weights, s.seed, s.number);
  disk_list disks(block_count);
  for (auto& disk : disks) disk = where->next_disk();
  return disks;
}

std::vector<double> counts_of(disk_list const& disks, std::size_t disk_count) {
  std::vector<double> counts(disk_count);
  for (auto const disk : disks) counts.at(disk) += 1;
  return counts;
}

/// Of the fullest disk, against the mean: 1 if all are alike.
double most_to_mean(disk_list const& disks, std::size_t disk_count) {
  auto const counts = counts_of(disks, disk_count);
  return *std::ranges::max_element(counts) * static_cast<double>(disk_count) /
         static_cast<double>(disks.size());
}

// ---- what each strategy is ----

TEST(placement, stripes_sequences_from_different_disks) {
  EXPECT_EQ(disks_of({striping}, alike(3), {.number = 0}, 5), (disk_list{0, 1, 2, 0, 1}));
  EXPECT_EQ(disks_of({striping}, alike(3), {.number = 4}, 5), (disk_list{1, 2, 0, 1, 2}));
}

TEST(placement, puts_consecutive_blocks_on_different_disks) {
  for (auto const kind : {striping, simple_randomized, randomized_cycling})
    for (std::size_t disk_count : {1U, 2U, 3U, 7U})
      for (std::uint64_t number = 0; number < 10; ++number) {
        auto const disks =
            disks_of({kind}, alike(disk_count), {.seed = 5, .number = number}, 4 * disk_count);
        for (std::size_t i = 0; i + disk_count <= disks.size(); ++i) {
          auto const begin = disks.begin() + static_cast<std::ptrdiff_t>(i);
          std::set const window(begin, begin + static_cast<std::ptrdiff_t>(disk_count));
          ASSERT_EQ(window.size(), disk_count);
          ASSERT_LT(*window.rbegin(), disk_count);
        }
      }
}

TEST(placement, simple_randomized_is_striping_from_a_random_disk) {
  disk_list firsts;
  for (std::uint64_t number = 0; number < 4000; ++number) {
    auto const disks = disks_of({simple_randomized}, alike(4), {.seed = 9, .number = number}, 9);
    firsts.push_back(disks[0]);
    ASSERT_EQ(disks, disks_of({striping}, alike(4), {.number = disks[0]}, 9));
  }
  EXPECT_LT(most_to_mean(firsts, 4), 1.1) << "seed 9";
}

TEST(placement, begins_random_cycles_on_every_disk_alike) {
  disk_list firsts;
  for (std::uint64_t number = 0; number < 4000; ++number)
    firsts.push_back(disks_of({randomized_cycling}, alike(4), {.seed = 9, .number = number}, 1)[0]);
  EXPECT_LT(most_to_mean(firsts, 4), 1.1) << "seed 9";
}

TEST(placement, cycles_in_every_order_alike) {
  constexpr int orders = 24;
  std::multiset<disk_list> seen;
  for (std::uint64_t number = 0; number < 200 * orders; ++number)
    seen.insert(disks_of({randomized_cycling}, alike(4), {.seed = 2, .number = number}, 4));
  std::set const distinct(seen.begin(), seen.end());
  EXPECT_EQ(distinct.size(), orders) << "seed 2";
  for (auto const& order : distinct) {
    EXPECT_GT(seen.count(order), 140U) << "seed 2";
    EXPECT_LT(seen.count(order), 260U) << "seed 2";
  }
}

TEST(placement, draws_every_block_of_fully_randomized_by_itself) {
  constexpr std::size_t blocks = 40'000;
  constexpr std::size_t disk_count = 8;
  auto const disks = disks_of({fully_randomized}, alike(disk_count), {.seed = 4}, blocks);
  EXPECT_LT(most_to_mean(disks, disk_count), 1.05) << "seed 4";
  // Whatever the disk of a block, the next one is on any with the same odds.
  disk_list pairs;
  for (std::size_t i = 0; i + 1 < blocks; ++i)
    pairs.push_back(disks[i] * static_cast<std::uint32_t>(disk_count) + disks[i + 1]);
  EXPECT_LT(most_to_mean(pairs, disk_count * disk_count), 1.2) << "seed 4";
}

TEST(placement, keeps_a_sequence_on_a_single_disk_and_the_next_on_the_next) {
  for (std::uint32_t number = 0; number < 6; ++number)
    EXPECT_EQ(disks_of({single_disk}, alike(3), {.number = number}, 4), disk_list(4, number % 3));
}

// ---- balance, seeds, subsets ----

TEST(placement, balances_many_short_sequences) {
  constexpr std::size_t disk_count = 8;
  for (auto const kind : all_kinds)
    for (std::size_t const length : {1U, 5U, 100U}) {
      disk_list all;
      for (std::uint64_t number = 0; number < 8000 / length; ++number) {
        auto const disks =
            disks_of({kind}, alike(disk_count), {.seed = 6, .number = number}, length);
        all.insert(all.end(), disks.begin(), disks.end());
      }
      EXPECT_LT(most_to_mean(all, disk_count), 1.15)
          << "kind " << static_cast<int>(kind) << ", length " << length << ", seed 6";
    }
}

TEST(placement, is_decided_by_seed_and_sequence_number) {
  for (auto const kind : {simple_randomized, fully_randomized, randomized_cycling}) {
    std::set<disk_list> seen;
    for (std::uint64_t number = 0; number < 50; ++number) {
      auto const disks = disks_of({kind}, alike(64), {.seed = 3, .number = number}, 8);
      EXPECT_EQ(disks, disks_of({kind}, alike(64), {.seed = 3, .number = number}, 8));
      seen.insert(disks);
      seen.insert(disks_of({kind}, alike(64), {.seed = 4, .number = number}, 8));
    }
    EXPECT_GT(seen.size(), 45U) << "kind " << static_cast<int>(kind);
  }
}

TEST(placement, stays_on_the_disks_it_is_restricted_to) {
  disk_list const some{5, 1, 4};
  for (auto const kind : all_kinds) {
    EXPECT_TRUE(std::ranges::equal(make_placement({kind, some}, alike(7), 1, 1)->disks(), some));
    disk_list all;
    for (std::uint64_t number = 0; number < 600; ++number) {
      auto const disks = disks_of({kind, some}, alike(7), {.seed = 8, .number = number}, 9);
      all.insert(all.end(), disks.begin(), disks.end());
    }
    auto const counts = counts_of(all, 7);
    for (std::uint32_t const disk : {0U, 2U, 3U, 6U}) EXPECT_EQ(counts[disk], 0);
    for (std::uint32_t const disk : some) EXPECT_NEAR(counts[disk], 1800, 180) << "seed 8";
  }
  EXPECT_EQ(disks_of({striping, some}, alike(7), {.number = 1}, 4), (disk_list{1, 4, 5, 1}));
}

// ---- weights ----

TEST(placement, is_the_same_for_any_equal_weights) {
  for (auto const kind : all_kinds)
    for (std::uint64_t number = 0; number < 20; ++number)
      EXPECT_EQ(disks_of({kind}, weight_list(5, 3'221'225'473), {.seed = 7, .number = number}, 30),
                disks_of({kind}, alike(5), {.seed = 7, .number = number}, 30));
}

TEST(placement, gives_each_disk_blocks_by_its_weight) {
  weight_list const weights{2'000'000, 4'000'000, 1'000'000};
  for (auto const kind : {striping, simple_randomized, randomized_cycling})
    for (std::uint64_t number = 0; number < 50; ++number)
      EXPECT_EQ(counts_of(disks_of({kind}, weights, {.seed = 2, .number = number}, 70), 3),
                (std::vector<double>{20, 40, 10}));
  EXPECT_EQ(disks_of({striping}, weights, {}, 7), (disk_list{1, 0, 1, 2, 1, 0, 1}));

  auto const drawn = counts_of(disks_of({fully_randomized}, weights, {.seed = 2}, 70'000), 3);
  EXPECT_NEAR(drawn[0], 20'000, 500) << "seed 2";
  EXPECT_NEAR(drawn[1], 40'000, 500) << "seed 2";
  EXPECT_NEAR(drawn[2], 10'000, 500) << "seed 2";

  disk_list whole_sequences;
  for (std::uint64_t number = 0; number < 70; ++number)
    whole_sequences.push_back(disks_of({single_disk}, weights, {.number = number}, 1)[0]);
  EXPECT_EQ(counts_of(whole_sequences, 3), (std::vector<double>{20, 40, 10}));
}

TEST(placement, gives_short_sequences_to_each_disk_by_its_weight) {
  for (auto const kind : {striping, simple_randomized, randomized_cycling}) {
    disk_list firsts;
    for (std::uint64_t number = 0; number < 6000; ++number)
      firsts.push_back(disks_of({kind}, {1, 3, 2}, {.seed = 5, .number = number}, 1)[0]);
    auto const counts = counts_of(firsts, 3);
    EXPECT_NEAR(counts[0], 1000, 150) << "seed 5";
    EXPECT_NEAR(counts[1], 3000, 150) << "seed 5";
    EXPECT_NEAR(counts[2], 2000, 150) << "seed 5";
  }
}

/// A window of any length has of each disk the share that is due to it, but for one block or two.
TEST(placement, spreads_the_blocks_of_fast_disks) {
  weight_list const weights{8, 1, 1, 3, 1, 2};
  double const sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::uint64_t number = 0; number < 20; ++number) {
    auto const disks = disks_of({randomized_cycling}, weights, {.seed = 3, .number = number}, 64);
    for (std::size_t begin = 0; begin < disks.size(); ++begin)
      for (std::size_t end = begin + 1; end <= disks.size(); ++end) {
        auto const counts = counts_of(disk_list(disks.begin() + static_cast<std::ptrdiff_t>(begin),
                                                disks.begin() + static_cast<std::ptrdiff_t>(end)),
                                      weights.size());
        for (std::size_t d = 0; d < weights.size(); ++d) {
          double const due = static_cast<double>(weights[d] * (end - begin)) / sum;
          ASSERT_NEAR(counts[d], due, 2) << "seed 3, sequence " << number << ", disk " << d;
        }
      }
  }
}

TEST(placement, rounds_weights_without_a_small_common_cycle) {
  weight_list const weights{3'333'333'331, 1'111'111'112, 1};
  auto const counts = counts_of(disks_of({striping}, weights, {}, 1'000'000), 3);
  EXPECT_NEAR(counts[0] / counts[1], 3, 0.03);
  EXPECT_NEAR(counts[0] / counts[2], 256, 1);
}

}  // namespace
}  // namespace outsize::block
