// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/detail/sort/sorted_window.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

#include <outsize/base/memory_budget.hpp>

namespace outsize::detail {
namespace {

TEST(delivered_items, are_left_out_of_windows_that_end_elsewhere) {
  delivered_items delivered;
  delivered.add({.memory = {}, .bytes = 30, .items = 3});
  delivered.add({.memory = {}, .bytes = 50, .items = 4});
  std::vector<std::byte> memory(100);
  sorted_window first{.memory = memory, .lead = 0, .bytes = 70, .items = 6};
  delivered.skip_in(first);
  EXPECT_EQ(first.bytes, 0U);
  EXPECT_EQ(first.items, 0U);
  sorted_window second{.memory = memory, .lead = 5, .bytes = 40, .items = 2};
  delivered.skip_in(second);
  EXPECT_EQ(second.lead, 15U);
  EXPECT_EQ(second.bytes, 30U);
  EXPECT_EQ(second.items, 1U);
  sorted_window const third{.memory = memory, .lead = 5, .bytes = 40, .items = 2};
  sorted_window same = third;
  delivered.skip_in(same);
  EXPECT_EQ(same.lead, third.lead);
  EXPECT_EQ(same.bytes, third.bytes);
}

TEST(windows_at_large, keep_memory_until_the_last_one_comes_back) {
  std::size_t const page = page_bytes();
  memory_budget budget(8 * page);
  grant memory = budget.take(8 * page, "test");
  windows_at_large kept;
  buffer windows = memory.allocate(4 * page);
  auto const window = [&](std::size_t i) {
    return sorted_window{.memory = windows.bytes().subspan(i * page, page), .bytes = page};
  };
  sorted_window const one = window(1), two = window(2);
  std::vector<window_place> places;
  for (std::size_t i = 0; i < 4; ++i) places.push_back({i * page, page, i == 1 || i == 2});
  kept.keep(std::move(windows), places);
  EXPECT_EQ(kept.bytes(), 2 * page);
  EXPECT_EQ(memory.free_bytes(), 6 * page);
  buffer other = memory.allocate(page);
  EXPECT_FALSE(kept.have({.memory = other.bytes()}));
  EXPECT_TRUE(kept.have(one));
  kept.recycle(one);
  EXPECT_EQ(two.memory[0], std::byte(0));
  kept.recycle(two);
  EXPECT_FALSE(kept.have(two));
  EXPECT_EQ(kept.bytes(), 0U);
  EXPECT_EQ(memory.free_bytes(), 7 * page);

  for (window_place& place : places) place.is_lent = false;
  kept.keep(memory.allocate(4 * page), places);
  EXPECT_EQ(memory.free_bytes(), 7 * page);
}

}  // namespace
}  // namespace outsize::detail
