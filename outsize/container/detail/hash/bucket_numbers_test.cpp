// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A bucket that is divided gives items to the new one and to no other; in between loads are even.

#include <outsize/container/detail/hash/bucket_numbers.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace outsize::detail {
namespace {

std::vector<std::uint64_t> random_hashes(std::size_t count) {
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> hashes(count);
  std::ranges::generate(hashes, random);
  return hashes;
}

TEST(bucket_numbers, divide_one_bucket_at_a_time_and_unite_it_again) {
  auto const hashes = random_hashes(2000);
  for (std::uint64_t const base : {1U, 2U, 3U, 7U, 64U, 100U}) {
    bucket_numbers numbers(base, base);
    for (std::uint64_t i = 0; i < 5 * base + 10; ++i) {
      auto const before = numbers;
      numbers.add();
      ASSERT_EQ(numbers.count(), before.count() + 1);
      ASSERT_LT(before.next_divided(), before.count());
      for (auto const hash : hashes) {
        auto const old = before.of(hash), now = numbers.of(hash);
        ASSERT_LT(old, before.count());
        if (now != old) {
          ASSERT_EQ(old, before.next_divided());
          ASSERT_EQ(now, before.count());
        }
      }
      ASSERT_EQ(numbers, bucket_numbers(base, numbers.count()));
      auto undone = numbers;
      undone.remove();
      ASSERT_EQ(undone, before);
    }
  }
}

TEST(bucket_numbers, are_in_the_order_of_hash_values_before_any_is_divided) {
  auto hashes = random_hashes(2000);
  std::ranges::sort(hashes);
  for (std::uint64_t const base : {1U, 3U, 1000U}) {
    bucket_numbers const numbers(base, base);
    EXPECT_TRUE(
        std::ranges::is_sorted(hashes, {}, [&](std::uint64_t hash) { return numbers.of(hash); }));
  }
}

TEST(bucket_numbers, are_used_evenly_after_each_round) {
  auto const hashes = random_hashes(100'000);
  for (std::uint64_t const base : {1U, 5U, 25U})
    for (std::uint64_t const parts : {4U, 8U}) {
      bucket_numbers const numbers(base, base * parts);
      std::vector<int> loads(base * parts);
      for (auto const hash : hashes) ++loads[numbers.of(hash)];
      auto const mean = 100'000 / static_cast<int>(base * parts);
      EXPECT_GT(*std::ranges::min_element(loads), mean * 8 / 10);
      EXPECT_LT(*std::ranges::max_element(loads), mean * 12 / 10);
    }
}

TEST(bucket_numbers, of_numbers_in_a_row_are_spread) {
  bucket_numbers const numbers(10, 10);
  std::vector<int> loads(10);
  for (std::uint64_t i = 0; i < 10'000; ++i) ++loads[numbers.of(mixed_bits(i))];
  EXPECT_GT(*std::ranges::min_element(loads), 850);
  EXPECT_LT(*std::ranges::max_element(loads), 1150);
}

}  // namespace
}  // namespace outsize::detail
