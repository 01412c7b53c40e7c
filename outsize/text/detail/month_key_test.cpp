// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Month names.
#include <outsize/text/detail/month_key.hpp>

#include <string_view>

#include <gtest/gtest.h>

namespace outsize::text {
namespace {

TEST(month_key, knows_all_months) {
  std::string_view const names = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
  for (int month = 1; month <= 12; ++month) {
    EXPECT_EQ(month_of(names.substr(static_cast<std::size_t>(month - 1) * 3, 3)), month);
  }
}

TEST(month_key, looks_at_three_letters_in_either_case) {
  EXPECT_EQ(month_of("january"), 1);
  EXPECT_EQ(month_of("FeBxyz"), 2);
  EXPECT_EQ(month_of(" \t\nmar"), 3);
}

TEST(month_key, takes_anything_else_for_none) {
  for (auto const* text : {"", " ", "ja", "xjan", "-jan", "\vjan", "jam", "1"}) {
    EXPECT_EQ(month_of(text), 0) << text;
  }
  EXPECT_EQ(month_of(std::string_view("january").substr(0, 2)), 0);
}

}  // namespace
}  // namespace outsize::text
