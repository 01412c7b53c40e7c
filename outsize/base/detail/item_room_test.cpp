// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Rooms take items until they are full, one by one and many at once.

#include <outsize/base/detail/item_room.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

namespace outsize::detail {
namespace {

TEST(item_room, is_full_before_it_begins_and_after_it_ends) {
  item_room<int> room;
  EXPECT_TRUE(room.full());
  std::array<int, 2> memory{};
  room.begin(std::span<int>(memory));
  EXPECT_FALSE(room.full());
  room.put(7);
  EXPECT_EQ(room.end(), 1U);
  EXPECT_TRUE(room.full());
  EXPECT_EQ(room.filled(), 0U);
  EXPECT_EQ(memory[0], 7);
}

TEST(item_room, takes_what_fits_of_many) {
  std::vector<std::uint32_t> items(10);
  std::iota(items.begin(), items.end(), 1);
  std::vector<float> memory(6);  // another type of the same size
  item_room<std::uint32_t> room;
  room.begin(std::span(memory));
  room.put(0);
  auto const rest = room.put(std::span<std::uint32_t const>(items));
  EXPECT_TRUE(room.full());
  EXPECT_EQ(rest.size(), 5U);
  EXPECT_EQ(rest.data(), items.data() + 5);
  EXPECT_EQ(room.put(rest).size(), 5U);
  std::vector<std::uint32_t> held(6);
  std::memcpy(held.data(), memory.data(), sizeof(float) * 6);
  EXPECT_EQ(held, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(room.end(), 6U);
}

}  // namespace
}  // namespace outsize::detail
