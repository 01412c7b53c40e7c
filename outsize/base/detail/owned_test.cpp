// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/owned.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <tuple>
#include <utility>

namespace outsize::detail {
namespace {

TEST(owned, is_what_its_owner_has_not_given_away) {
  owned<int> a(std::make_unique<int>(5));
  owned<int> b = std::move(a);
  EXPECT_FALSE(a);
  EXPECT_EQ(*b, 5);
  a = std::make_unique<int>(6);
  a.swap(b);
  EXPECT_EQ(*a + 10 * *b, 65);
  b.reset();
  EXPECT_FALSE(b);
  EXPECT_DEATH(std::ignore = b.get(), "used after it was moved from or closed");
}

TEST(moved_along, leaves_nothing_behind) {
  moved_along<int> a(5);
  moved_along<int> b = std::move(a);
  EXPECT_EQ(*a, 0);
  EXPECT_EQ(*b, 5);
  a = std::move(b);
  EXPECT_EQ(*a, 5);
  EXPECT_EQ(*b, 0);
}

}  // namespace
}  // namespace outsize::detail
