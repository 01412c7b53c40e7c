// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Free space against a map of single bytes.

#include <outsize/block/free_extents.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace outsize::block {
namespace {

TEST(free_extents, has_nothing_at_first) {
  free_extents space;
  EXPECT_EQ(space.total_bytes(), 0U);
  EXPECT_EQ(space.extent_count(), 0U);
  EXPECT_FALSE(space.take(1).has_value());
}

TEST(free_extents, takes_the_lowest_place_that_is_long_enough) {
  free_extents space;
  space.give(100, 10);
  space.give(0, 5);
  space.give(200, 50);
  EXPECT_EQ(space.take(6), 100U);
  EXPECT_EQ(space.take(20), 200U);
  EXPECT_EQ(space.take(5), 0U);
  EXPECT_EQ(space.take(4), 106U);
  EXPECT_FALSE(space.take(31).has_value());
  EXPECT_EQ(space.take(30), 220U);
  EXPECT_EQ(space.total_bytes(), 0U);
}

TEST(free_extents, takes_nothing_that_lies_too_low) {
  free_extents space;
  space.give(100, 50);
  space.give(200, 50);
  EXPECT_EQ(space.take(10, 120), 120U);  // from the middle
  EXPECT_EQ(space.take(10, 120), 130U);
  EXPECT_EQ(space.take(10, 145), 200U);
  EXPECT_EQ(space.take(40, 210), 210U);
  EXPECT_FALSE(space.take(1, 150).has_value());
  EXPECT_EQ(space.take(10, 140), 140U);  // all that an extent has behind a place
  EXPECT_EQ(space.take(20), 100U);
  EXPECT_EQ(space.total_bytes(), 0U);
}

TEST(free_extents, joins_neighbours_on_both_sides) {
  free_extents space;
  space.give(0, 10);
  space.give(20, 10);
  EXPECT_EQ(space.extent_count(), 2U);
  space.give(10, 10);
  EXPECT_EQ(space.extent_count(), 1U);
  EXPECT_EQ(space.take(30), 0U);
}

TEST(free_extents, agrees_with_a_map_of_bytes) {
  constexpr std::size_t size = 300;
  std::uint64_t const seed = 11;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  free_extents space;
  std::vector<char> is_free(size, 0);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> used{{0, size}};
  auto const lowest_gap = [&](std::size_t length, std::size_t least) {
    auto const from = is_free.begin() + static_cast<std::ptrdiff_t>(least);
    auto const place = std::search_n(from, is_free.end(), length, char{1});
    return static_cast<std::size_t>(place - is_free.begin());
  };
  for (int step = 0; step < 5000; ++step) {
    if (random() % 2 == 0 && !used.empty()) {
      std::swap(used[random() % used.size()], used.back());
      auto const [offset, length] = used.back();
      used.pop_back();
      space.give(offset, length);
      std::fill_n(is_free.begin() + static_cast<std::ptrdiff_t>(offset), length, char{1});
    } else {
      std::size_t const length = 1 + random() % 40;
      std::size_t const least = random() % 2 == 0 ? 0 : random() % size;
      auto const place = space.take(length, least);
      std::size_t const want = lowest_gap(length, least);
      ASSERT_EQ(place.has_value(), want != size);
      if (!place) continue;
      ASSERT_EQ(*place, want);
      std::fill_n(is_free.begin() + static_cast<std::ptrdiff_t>(want), length, char{0});
      used.emplace_back(want, length);
    }
    ASSERT_EQ(space.total_bytes(),
              static_cast<std::uint64_t>(std::ranges::count(is_free, char{1})));
    std::size_t extents = is_free[0] != 0 ? 1 : 0;
    for (std::size_t i = 1; i < size; ++i)
      extents += is_free[i] != 0 && is_free[i - 1] == 0 ? 1 : 0;
    ASSERT_EQ(space.extent_count(), extents);
  }
}

}  // namespace
}  // namespace outsize::block
