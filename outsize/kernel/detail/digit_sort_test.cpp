// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Sorting by digits against std::sort.

#include <outsize/kernel/detail/digit_sort.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <tuple>
#include <vector>

namespace outsize::detail {
namespace {

auto const as_tuple = [](word_pair const& p) { return std::tuple(p.high, p.low); };

/// Sorts by digits; in any case the items are those that were given. Returns whether it sorted.
template <typename T, typename Key = std::identity>
bool sorts(digit_sort<T>& digits, std::vector<T> items, Key key = {}) {
  auto want = items;
  std::ranges::sort(want, {}, key);
  bool const sorted = digits(std::span(items));
  if (!sorted) std::ranges::sort(items, {}, key);
  EXPECT_TRUE(items == want);
  return sorted;
}

TEST(digit_sort, sorts_evenly_spread_keys_of_any_range) {
  digit_sort<std::uint64_t> digits;  // used again, larger and smaller
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> keys(random() % 40'000);
    auto const narrow = static_cast<unsigned>(random() % 64);
    std::uint64_t const base = narrow == 0 ? 0 : random() >> 1;
    for (auto& key : keys) key = base + (random() >> narrow);
    EXPECT_TRUE(sorts(digits, keys));
  }
}

TEST(digit_sort, sorts_keys_at_the_ends_of_their_type) {
  digit_sort<std::uint64_t> wide;
  EXPECT_TRUE(sorts(wide, {}));
  EXPECT_TRUE(sorts(wide, {UINT64_MAX}));
  EXPECT_TRUE(sorts(wide, {UINT64_MAX, 0}));
  EXPECT_TRUE(sorts(wide, {5, 5, 5}));
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < 1000; ++i) all.push_back(i % 2 == 0 ? i : UINT64_MAX - i);
  sorts(wide, all);
  digit_sort<std::uint32_t> narrow;
  std::vector<std::uint32_t> descending(5000);
  for (std::uint32_t i = 0; i < descending.size(); ++i) descending[i] = UINT32_MAX - i * 800'000;
  EXPECT_TRUE(sorts(narrow, descending));
}

TEST(digit_sort, compares_items_whose_key_words_are_equal) {
  digit_sort<word_pair> digits;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<word_pair> items(random() % 3000);
    std::uint64_t const distinct = items.size() * 2 + 1;
    for (auto& item : items) item = {random() % 8, random() % distinct};
    EXPECT_TRUE(sorts(digits, items, as_tuple));
  }
}

TEST(digit_sort, gives_up_where_too_many_keys_agree_in_their_digits) {
  std::mt19937_64 random(1);
  // One key far away leaves all others the same digits; seen before anything is moved.
  std::vector<std::uint64_t> keys(2000);
  for (auto& key : keys) key = random() % 1'000'000;
  keys[700] = UINT64_MAX;
  digit_sort<std::uint64_t> words;
  auto moved = keys;
  EXPECT_FALSE(words(std::span(moved)));
  EXPECT_TRUE(moved == keys);

  // Clusters, spread evenly, each within one pair of digits: seen while they are put in order.
  for (auto& key : keys) key = (random() % 8) << 61 | random() % 1'000'000;
  EXPECT_FALSE(sorts(words, keys));

  // Equal key words and much to compare behind them.
  std::vector<word_pair> items(2000);
  for (auto& item : items) item = {random(), random() % 8};
  digit_sort<word_pair> pairs;
  EXPECT_FALSE(sorts(pairs, items, as_tuple));
}

}  // namespace
}  // namespace outsize::detail
