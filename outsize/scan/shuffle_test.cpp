// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// All orders are equally likely, and depend on the generator alone.

#include <outsize/scan/shuffle.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include <outsize/container/deque.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/scan/for_each.hpp>
#include <outsize/testing/counted_storage.hpp>

namespace outsize {
namespace {

struct shuffles : testing::Test, scratch::counted_storage {
  shuffles() : counted_storage(4_MiB) {}

  page_options const small{.page_bytes = 4_KiB, .cache_pages = 8, .spare_pages = 4};
  static constexpr auto itself = [](std::uint64_t index) { return index; };

  /// Σ (seen - expected)² / expected.
  template <typename Counts>
  static double chi_square(Counts const& counts, double expected) {
    return std::accumulate(counts.begin(), counts.end(), 0.0, [&](double sum, double seen) {
      return sum + (seen - expected) * (seen - expected) / expected;
    });
  }
};

TEST_F(shuffles, make_all_orders_of_few_items_equally_likely) {
  constexpr int rounds = 240;
  std::mt19937_64 random(1);
  using order = std::vector<std::uint64_t>;
  std::map<order, int> seen;
  vector<std::uint64_t> v(store, {.page_bytes = 64, .cache_pages = 4});
  v.resize(4);
  for (int i = 0; i < rounds; ++i) {
    tabulate(v, itself);
    shuffle(v, random, {.memory_bytes = 2_MiB});
    ++seen[order(v.cbegin(), v.cend())];
  }
  ASSERT_EQ(seen.size(), 24U);
  std::vector<double> counts;
  for (auto const& [_, times] : seen) counts.push_back(times);
  EXPECT_LT(chi_square(counts, rounds / 24.0), 49.7);  // 23 degrees of freedom, 1 in 1000
}

TEST_F(shuffles, spread_items_evenly_when_they_do_not_fit_in_memory) {
  constexpr std::uint64_t count = 320'000, parts = 16;
  vector<std::uint64_t> v(store, small);
  v.resize(count);
  tabulate(v, itself);
  std::mt19937_64 random(2);
  shuffle(v, random);
  std::vector<double> moved(parts * parts);
  std::vector<bool> found(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t const item = std::as_const(v)[i];
    ASSERT_FALSE(found.at(item));
    found[item] = true;
    ++moved[item * parts / count * parts + i * parts / count];
  }
  // (16 - 1)² degrees of freedom, 1 in 1000 each way.
  double const difference = chi_square(moved, count / static_cast<double>(parts * parts));
  EXPECT_LT(difference, 296.0);
  EXPECT_GT(difference, 164.0);
}

TEST_F(shuffles, are_called_as_parallel_algorithms_are) {
  deque<std::uint64_t> d(store, small), e(store, small);
  d.resize(1000);
  e.resize(1000);
  tabulate(d, itself);
  tabulate(e, itself);
  std::mt19937_64 random(3), same(3);
  shuffle(par, d, random);
  shuffle(e.begin(), e.end(), same);
  EXPECT_TRUE(d == e);
  EXPECT_FALSE(std::ranges::is_sorted(std::as_const(d)));
}

TEST_F(shuffles, give_the_same_order_with_any_memory) {
  using odd = std::array<std::uint8_t, 5>;
  std::vector<std::vector<odd>> orders;
  for (std::uint64_t const memory : {2_MiB, 3_MiB}) {
    deque<odd> d(store, small);
    for (std::uint32_t i = 0; i < 200'000; ++i) {
      odd item{};
      std::memcpy(item.data(), &i, sizeof i);
      d.push_back(item);
    }
    std::mt19937_64 random(5);
    shuffle(d.begin() + 10, d.end() - 10, random, {.memory_bytes = memory});
    orders.emplace_back(d.cbegin(), d.cend());
  }
  EXPECT_EQ(orders[0], orders[1]);
  std::uint32_t moved = 0;
  for (std::uint32_t i = 0; i < 200'000; ++i) {
    std::uint32_t item = 0;
    std::memcpy(&item, orders[0][i].data(), sizeof item);
    moved += item != i ? 1 : 0;
    if (i < 10 || i >= 199'990) {
      EXPECT_EQ(item, i);
    }
  }
  EXPECT_GT(moved, 199'900U);
}

}  // namespace
}  // namespace outsize
