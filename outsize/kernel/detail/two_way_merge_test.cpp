// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The merge of two sequences in lanes against std::merge.

#include <outsize/kernel/detail/two_way_merge.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <outsize/kernel/detail/vector_sort.hpp>

namespace outsize::detail {
namespace {

template <typename T, typename Make>
void expect_merges(Make const& make) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::size_t const most = seed % 10 == 0 ? 20'000 : 60;
    std::vector<T> a(random() % most), b(seed % 7 == 0 ? 0 : random() % most);
    std::uint64_t const distinct = seed % 3 == 0 ? 4 : UINT64_MAX;
    for (auto& x : a) x = make(random() % distinct);
    for (auto& x : b) x = make(random() % distinct);
    // Disjoint, too: all of one before all of the other.
    if (seed % 5 == 0 && distinct != 4)
      for (auto& x : b) x = make(UINT64_MAX);
    std::ranges::sort(a);
    std::ranges::sort(b);
    std::vector<T> want(a.size() + b.size()), out(want.size());
    std::ranges::merge(a, b, want.begin());
    merge_two_ways<T>(a, b, out.data());
    ASSERT_TRUE(out == want);

    for (std::size_t count : {std::size_t{0}, want.size() / 3, want.size()}) {
      std::size_t const from_a = split_of_least(a, b, count);
      ASSERT_LE(from_a, count);
      ASSERT_LE(count - from_a, b.size());
      std::vector<T> least(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(from_a));
      least.insert(least.end(), b.begin(), b.begin() + static_cast<std::ptrdiff_t>(count - from_a));
      std::ranges::sort(least);
      ASSERT_TRUE(std::ranges::equal(least, std::span(want).first(count)));
    }
  }
}

TEST(two_way_merge, merges_numbers) {
  expect_merges<std::uint64_t>([](std::uint64_t x) { return x; });
  expect_merges<std::uint32_t>([](std::uint64_t x) { return static_cast<std::uint32_t>(x); });
}

TEST(two_way_merge, merges_items_of_two_words_by_both) {
  expect_merges<word_pair>([](std::uint64_t x) { return word_pair{x % 7, x / 7}; });
}

TEST(two_way_merge, stays_inside_its_sequences_if_the_order_is_none) {
  // Nothing is less than what is no number, nor is it less.
  std::vector<double> a(100, 100.0), b(100, 0.0);
  for (std::size_t i : {33U, 50U}) a[i] = std::numeric_limits<double>::quiet_NaN();
  struct item {
    double key;
  };
  auto const less = [](item const& x, item const& y) { return x.key < y.key; };
  std::vector<item> first, second, out(202);
  for (double const key : a) first.push_back({key});
  for (double const key : b) second.push_back({key});
  out.front().key = out.back().key = -1;
  merge_two_ways(std::span<item const>(first), std::span<item const>(second), &out[1], less);
  EXPECT_EQ(out.front().key, -1);
  EXPECT_EQ(out.back().key, -1);
  auto const count = [&](auto const& which) {
    return std::count_if(out.begin() + 1, out.end() - 1, which);
  };
  EXPECT_EQ(count([](item const& i) { return i.key == 0; }), 100);
  EXPECT_EQ(count([](item const& i) { return i.key == 100; }), 98);
  EXPECT_EQ(count([](item const& i) { return std::isnan(i.key); }), 2);
}

}  // namespace
}  // namespace outsize::detail
