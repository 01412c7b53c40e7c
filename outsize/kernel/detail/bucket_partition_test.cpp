// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Partitions hold the items they were given, each in its bucket.

#include <outsize/kernel/detail/bucket_partition.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

#include <outsize/kernel/detail/vector_sort.hpp>

namespace outsize::detail {
namespace {

auto const as_tuple = [](word_pair const& p) { return std::tuple(p.high, p.low); };

void expect_partitions(std::vector<word_pair> items, bucket_rule const& rule) {
  auto given = items;
  auto const bounds = bucket_partition<word_pair>()(items, rule);
  EXPECT_EQ(bounds[0], 0U);
  ASSERT_EQ(bounds[rule.count], items.size());
  for (std::size_t b = 0; b < rule.count; ++b) {
    ASSERT_LE(bounds[b], bounds[b + 1]);
    for (std::size_t i = bounds[b]; i < bounds[b + 1]; ++i) ASSERT_EQ(rule(items[i].high), b);
  }
  std::ranges::sort(given, {}, as_tuple);
  std::ranges::sort(items, {}, as_tuple);
  EXPECT_TRUE(items == given);
}

TEST(bucket_partition, puts_each_item_into_its_bucket) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<word_pair> items(random() % (seed % 4 == 0 ? 100'000 : 2'000));
    // All buckets alike, most items in one, or each item many times.
    unsigned const narrow = seed % 3 == 0 ? 0 : static_cast<unsigned>(random() % 60);
    std::uint64_t const distinct = seed % 5 == 0 ? 3 : UINT64_MAX;
    for (auto& item : items) item = {random(), (random() % distinct) >> narrow};
    bucket_rule const rule{.least = random() >> (narrow + 2),
                           .shift = static_cast<unsigned>(random() % 64),
                           .count = 1 + random() % bucket_rule::most_buckets};
    expect_partitions(items, rule);
  }
}

TEST(bucket_rule, divides_what_the_sample_says_and_refuses_what_it_cannot_divide) {
  std::mt19937_64 random(5);
  std::vector<std::uint64_t> sample(1024);
  for (auto& key : sample) key = 1'000'000 + random() % 1000;
  auto const rule = bucket_rule::from_sample(sample, 256);
  ASSERT_TRUE(rule);
  EXPECT_GE(rule->count, 128U);
  EXPECT_LE(rule->count, 256U);
  EXPECT_EQ((*rule)(0), 0U);
  EXPECT_EQ((*rule)(UINT64_MAX), rule->count - 1);

  // A few outliers at both ends do not matter.
  for (std::size_t i = 0; i < 20; ++i) sample[i] = i % 2 == 0 ? 0 : UINT64_MAX;
  EXPECT_TRUE(bucket_rule::from_sample(sample, 256));

  std::ranges::fill(sample, 7);
  EXPECT_FALSE(bucket_rule::from_sample(sample, 256));
}

TEST(bucket_rule, keeps_the_order_of_keys) {
  std::mt19937_64 random(6);
  std::vector<std::uint64_t> sample(1024);
  for (auto& key : sample) key = random() >> (random() % 2);
  auto const rule = bucket_rule::from_sample(sample, 64);
  ASSERT_TRUE(rule);
  for (int i = 0; i < 10'000; ++i) {
    auto const [low, high] = std::minmax({random(), random()});
    EXPECT_LE((*rule)(low), (*rule)(high));
  }
}

}  // namespace
}  // namespace outsize::detail
