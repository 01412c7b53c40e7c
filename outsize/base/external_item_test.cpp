// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Values whose bytes say all are items, others are not.

#include <outsize/base/external_item.hpp>

#include <gtest/gtest.h>

#include <array>
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

}  // namespace
}  // namespace outsize
