// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The vector kernels against std::sort.

#include <outsize/algorithm/sort/vector_sort.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

namespace outsize::detail {
namespace {

template <typename T>
void expect_sorts(std::vector<T> keys) {
  auto want = keys;
  std::ranges::sort(want);
  vector_sort(keys);
  EXPECT_EQ(keys, want);
}

TEST(vector_sort, sorts_integers_of_any_number_and_distribution) {
  std::mt19937_64 random(7);
  for (std::size_t count : {0, 1, 2, 15, 16, 17, 1000, 30000, 300'000})  // the last in two levels
    for (std::uint64_t distinct : {std::uint64_t{1}, std::uint64_t{3}, ~std::uint64_t{0}}) {
      std::vector<std::uint64_t> wide(count);
      std::vector<std::uint32_t> narrow(count);
      for (auto& k : wide) k = random() % distinct;
      for (auto& k : narrow) k = static_cast<std::uint32_t>(random() % distinct);
      expect_sorts(wide);
      expect_sorts(narrow);
    }
}

TEST(vector_sort, sorts_keys_in_clusters_and_even_ones_after_them) {
  std::mt19937_64 random(10);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    bool const in_clusters = round / 20 == 1;  // longer than digits are left alone
    std::uint64_t const kept = in_clusters ? 0xE0000000000FFFFF : ~std::uint64_t{0};
    std::vector<std::uint64_t> wide(500 + random() % 5000);
    std::vector<std::uint32_t> narrow(wide.size());
    std::vector<word_pair> pairs(wide.size());
    for (std::size_t i = 0; i < wide.size(); ++i) {
      wide[i] = random() & kept;
      narrow[i] = static_cast<std::uint32_t>(random()) & (in_clusters ? 0xE000000F : ~0U);
      pairs[i] = {random(), random() & kept};
    }
    expect_sorts(wide);
    expect_sorts(narrow);
    expect_sorts(pairs);
  }
}

TEST(vector_sort, sorts_word_pairs_as_numbers) {
  std::mt19937_64 random(8);
  for (std::size_t count : {0, 1, 2, 31, 1000, 30000, 300'000})  // the last in two levels
    for (std::uint64_t distinct : {std::uint64_t{1}, std::uint64_t{3}, ~std::uint64_t{0}}) {
      std::vector<word_pair> keys(count);
      for (auto& k : keys) k = {random() % distinct, random() % distinct};
      auto want = keys;
      std::ranges::sort(want, {}, [](word_pair const& k) { return std::tuple(k.high, k.low); });
      vector_sort(keys);
      EXPECT_EQ(keys, want);
    }
}

TEST(vector_sort, sorts_entries_by_prefix_and_then_by_place) {
  std::mt19937_64 random(9);
  for (std::size_t count : {0, 1, 20, 5000, 100'000}) {
    std::vector<prefix_entry> entries(count);
    for (auto& e : entries) e = {random(), random() % 50 * (~std::uint64_t{0} / 49)};
    auto want = entries;
    auto const key = [](prefix_entry const& e) { return std::tuple(e.prefix, e.place); };
    std::ranges::sort(want, {}, key);
    vector_sort(entries);
    EXPECT_TRUE(std::ranges::equal(entries, want, {}, key, key));
  }
}

}  // namespace
}  // namespace outsize::detail
