// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Sorting by proxies against std::sort.

#include <outsize/kernel/detail/proxy_sort.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <random>
#include <span>
#include <tuple>
#include <vector>

namespace outsize::detail {
namespace {

TEST(proxy_sort, equals_a_comparison_sort_however_the_keys_are_spread) {
  proxy_sort<word_pair> proxies;  // used again, larger and smaller
  std::size_t groups_of_equals = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<word_pair> items(random() % 3000);
    // From keys that all proxies tell apart to keys that agree in all the bits a proxy has.
    auto const narrow = static_cast<unsigned>(random() % 64);
    std::uint64_t const base = random();
    for (auto& item : items) item = {random() % 4, base + (random() >> narrow)};
    if (seed % 4 == 0)
      for (auto& item : items) item.high = (random() % 3) << 62 | random() % 1000;
    auto want = items;
    std::ranges::sort(want, {}, [](word_pair const& p) { return std::tuple(p.high, p.low); });
    proxies(
        std::span(items), [](std::span<std::uint64_t> words) { std::ranges::sort(words); },
        [&](std::span<word_pair> equals) {
          ++groups_of_equals;
          std::ranges::sort(equals);
        });
    ASSERT_TRUE(items == want);
  }
  EXPECT_GT(groups_of_equals, 0U);
}

}  // namespace
}  // namespace outsize::detail
