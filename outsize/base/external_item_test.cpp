// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Values whose bytes say all are items, others are not.

#include <outsize/base/external_item.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

namespace outsize {
namespace {

struct point {
  int x = 0, y = 0;
};
struct no_default {
  explicit no_default(int v) : value(v) {}
  int value;
};

TEST(external_item, is_any_value_that_can_be_copied_by_its_bytes) {
  EXPECT_TRUE((external_item<int> && external_item<point> && external_item<std::array<point, 3>>));
}

TEST(external_item, is_nothing_that_refers_to_memory_elsewhere_or_cannot_be_made_beforehand) {
  EXPECT_FALSE((external_item<std::string> || external_item<point*> || external_item<point&>));
  EXPECT_FALSE((external_item<point const> || external_item<no_default>));
}

TEST(external_item, asks_for_no_more_than_a_line_of_a_cache_at_once) {
  struct alignas(64) line {
    int value;
  };
  struct alignas(128) lines {
    int value;
  };
  EXPECT_TRUE(external_item<line>);
  EXPECT_FALSE(external_item<lines>);
  for (std::size_t const count : {1U, 64U, 1000U}) {
    aligned_bytes const memory(count);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(line), 0U);
  }
}

}  // namespace
}  // namespace outsize
