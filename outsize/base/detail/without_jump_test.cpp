// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/without_jump.hpp>

#include <gtest/gtest.h>

#include <array>

namespace outsize::detail {
namespace {

TEST(without_jump, numbers_are_one_and_zero) {
  EXPECT_EQ(as_number(true), 1U);
  EXPECT_EQ(as_number(false), 0U);
}

TEST(without_jump, the_first_is_selected_by_zero_alone) {
  std::array<int, 2> const items{3, 5};
  EXPECT_EQ(selected(0, &items[0], &items[1]), &items[0]);
  EXPECT_EQ(selected(1, &items[0], &items[1]), &items[1]);
  EXPECT_EQ(selected(std::size_t{1} << 40, &items[0], &items[1]), &items[1]);
}

}  // namespace
}  // namespace outsize::detail
