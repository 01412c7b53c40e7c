// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/memory_division.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <outsize/base/units.hpp>

namespace outsize {
namespace {

using shares = std::vector<std::uint64_t>;

std::uint64_t sum_of(shares const& all) { return std::accumulate(all.begin(), all.end(), 0ULL); }

TEST(division_of_memory, gives_nothing_if_the_least_needs_do_not_fit) {
  std::vector<memory_claim> const claims{{.least = 6, .knee = 9, .most = 20},
                                         memory_claim::fixed(5)};
  EXPECT_FALSE(divide_memory(10, claims));
  EXPECT_EQ(divide_memory(11, claims), (shares{6, 5}));
  EXPECT_EQ(divide_memory(0, {}), shares{});
  std::vector<memory_claim> const huge(3, memory_claim::fixed(UINT64_MAX / 2));
  EXPECT_FALSE(divide_memory(UINT64_MAX, huge));
}

TEST(division_of_memory, goes_to_the_knees_in_proportion_to_them_and_then_by_weight) {
  std::vector<memory_claim> const claims{{.least = 0, .knee = 100, .most = 1000},
                                         {.least = 20, .knee = 200, .most = 2000, .weight = 3}};
  EXPECT_EQ(divide_memory(30, claims), (shares{10, 20}));
  EXPECT_EQ(divide_memory(150, claims), (shares{50, 100}));
  EXPECT_EQ(divide_memory(300, claims), (shares{100, 200}));
  EXPECT_EQ(divide_memory(1200, claims), (shares{300, 900}));
  EXPECT_EQ(divide_memory(2900, claims), (shares{900, 2000}));
  EXPECT_EQ(divide_memory(9999, claims), (shares{1000, 2000}));
}

TEST(division_of_memory, leaves_something_for_those_to_come_but_not_of_the_least_needs) {
  std::vector<memory_claim> const claims{{.least = 50, .knee = 60, .most = 200}};
  EXPECT_EQ(divide_memory(160, claims, 10), shares{150});
  EXPECT_EQ(divide_memory(55, claims, 10), shares{50});
}

class divisions : public testing::Test {
 protected:
  memory_claim any_claim() {
    std::uint64_t three[3];
    for (auto& x : three) x = draw() >> (20 + draw() % 44);
    std::ranges::sort(three);
    return {three[0], three[1], three[2], static_cast<double>(draw() % 5)};
  }
  std::vector<memory_claim> any_claims() {
    std::vector<memory_claim> claims(draw() % 12);
    for (auto& c : claims) c = any_claim();
    return claims;
  }

  std::uint64_t const seed = std::random_device()();
  std::mt19937_64 draw{seed};
};

TEST_F(divisions, are_within_claims_and_memory_and_leave_only_what_nobody_can_use) {
  SCOPED_TRACE(seed);
  for (int i = 0; i < 3000; ++i) {
    auto const claims = any_claims();
    std::uint64_t const total = draw() >> (16 + draw() % 40), spare = draw() % (total / 8 + 1);
    auto const given = divide_memory(total, claims, spare);
    std::uint64_t least = 0, most = 0;
    for (auto const& c : claims) least += c.least, most += c.most;
    ASSERT_EQ(given.has_value(), least <= total);
    if (!given) continue;
    for (std::size_t k = 0; k < claims.size(); ++k) {
      ASSERT_LE(claims[k].least, (*given)[k]);
      ASSERT_GE(claims[k].most, (*given)[k]);
    }
    ASSERT_LE(sum_of(*given), std::max(least, total - spare));
    bool const are_all_weighted =
        std::ranges::all_of(claims, [](auto const& c) { return c.weight > 0; });
    // Shares are rounded down; where λ is 2^-52 too low, by more than one byte.
    std::uint64_t const lost = claims.size() * (1 + (total >> 50));
    if (!are_all_weighted) continue;
    ASSERT_GE(sum_of(*given) + lost, std::min(most, total - spare));
  }
}

TEST_F(divisions, give_nobody_less_of_more_memory_or_more_where_others_come) {
  SCOPED_TRACE(seed);
  for (int i = 0; i < 3000; ++i) {
    auto claims = any_claims();
    std::uint64_t const total = draw() >> (16 + draw() % 40);
    auto const given = divide_memory(total, claims);
    if (!given) continue;
    auto const more = divide_memory(total + draw() % (total + 1), claims);
    ASSERT_TRUE(more);
    for (std::size_t k = 0; k < claims.size(); ++k) ASSERT_LE((*given)[k], (*more)[k]);
    claims.push_back(any_claim());
    auto const with_another = divide_memory(total, claims);
    if (!with_another) continue;
    for (std::size_t k = 0; k < given->size(); ++k) ASSERT_GE((*given)[k], (*with_another)[k]);
  }
}

TEST_F(divisions, give_equals_the_same_in_any_order) {
  SCOPED_TRACE(seed);
  for (int i = 0; i < 300; ++i) {
    auto claims = any_claims();
    claims.insert(claims.end(), claims.begin(), claims.end());
    auto const given = divide_memory(1_GiB, claims);
    if (!given) continue;
    std::size_t const half = claims.size() / 2;
    ASSERT_TRUE(std::equal(given->begin(), given->begin() + static_cast<std::ptrdiff_t>(half),
                           given->begin() + static_cast<std::ptrdiff_t>(half)));
    std::ranges::reverse(claims);
    auto reversed = divide_memory(1_GiB, claims);
    std::ranges::reverse(*reversed);
    ASSERT_EQ(given, reversed);
  }
}

}  // namespace
}  // namespace outsize
