// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// What must be in front of an item, or behind it, against looking at each item of a sequence.

#include <outsize/algorithm/detail/sort/presorted/passing_order.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <outsize/testing/effort.hpp>

namespace outsize::detail {
namespace {

using number = std::uint32_t;

/// Numbers as items that can be told apart though they compare equal.
item_operations operations() {
  return {.item_bytes = sizeof(number),
          .in_order =
              [](std::span<std::byte const> bytes, bool descending) {
                auto const* const items = reinterpret_cast<number const*>(bytes.data());
                std::span const all(items, bytes.size() / sizeof(number));
                return descending
                           ? std::ranges::adjacent_find(all, std::less_equal<>()) == all.end()
                           : std::ranges::is_sorted(all);
              },
          .reverse = {},
          .scratch_bytes = {},
          .sort = {}};
}

TEST(passing_order, says_what_must_be_in_front_and_behind) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  auto const of_numbers = operations();
  for (int i = 0; i < scratch::operations(2000); ++i) {
    std::vector<number> sorted(random() % 50);
    for (number& x : sorted) x = static_cast<number>(random() % 30);
    std::ranges::sort(sorted);
    auto const one = static_cast<number>(random() % 30);
    auto const* const item = reinterpret_cast<std::byte const*>(&one);
    auto const bytes = std::as_bytes(std::span(sorted));
    std::size_t const less =
        static_cast<std::size_t>(std::ranges::count_if(sorted, [&](number x) { return x < one; }));
    std::size_t const greater =
        static_cast<std::size_t>(std::ranges::count_if(sorted, [&](number x) { return x > one; }));
    std::size_t const not_less = sorted.size() - less, not_greater = sorted.size() - greater;
    // Of equal items the one taken first is in front.
    passing_order forward(of_numbers, false);
    EXPECT_EQ(forward.front_before(item, bytes), less * sizeof(number));
    EXPECT_EQ(forward.back_behind(bytes, item), greater * sizeof(number));
    EXPECT_EQ(forward.back_following(item, bytes), not_less * sizeof(number));
    // The one taken last is.
    passing_order backward(of_numbers, true);
    EXPECT_EQ(backward.front_before(item, bytes), not_greater * sizeof(number));
    EXPECT_EQ(backward.back_behind(bytes, item), not_less * sizeof(number));
    EXPECT_EQ(backward.back_following(item, bytes), greater * sizeof(number));
  }
}

TEST(passing_order, asks_more_often_for_longer_stretches_only) {
  auto of_numbers = operations();
  std::size_t asked = 0;
  of_numbers.in_order = [&asked, in_order = of_numbers.in_order](auto items, bool descending) {
    ++asked;
    return in_order(items, descending);
  };
  std::vector<number> sorted(1 << 16);
  for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = static_cast<number>(i);
  passing_order order(of_numbers, false);
  number const last_but_two = sorted[sorted.size() - 3];
  EXPECT_EQ(order.back_behind(std::as_bytes(std::span(sorted)),
                              reinterpret_cast<std::byte const*>(&last_but_two)),
            2 * sizeof(number));
  EXPECT_LE(asked, 6U);
}

}  // namespace
}  // namespace outsize::detail
