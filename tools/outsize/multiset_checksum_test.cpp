// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// What a checksum must ignore (order) and what it must not (anything else).
#include <tools/outsize/multiset_checksum.hpp>

#include <initializer_list>

#include <gtest/gtest.h>

namespace outsize::tool {
namespace {

multiset_checksum checksum(std::initializer_list<std::string_view> items) {
  multiset_checksum result;
  for (auto const item : items) result.add(item);
  return result;
}

TEST(multiset_checksum, does_not_depend_on_the_order) {
  EXPECT_EQ(checksum({"a", "bb", "", "a"}), checksum({"", "a", "a", "bb"}));
}

TEST(multiset_checksum, sees_changed_missing_and_regrouped_items) {
  auto const whole = checksum({"a", "bb", "c"});
  EXPECT_NE(whole, checksum({"a", "bb", "d"}));
  EXPECT_NE(whole, checksum({"a", "bb"}));
  EXPECT_NE(whole, checksum({"ab", "b", "c"}));
}

TEST(multiset_checksum, counts_how_often) {
  EXPECT_NE(checksum({"a", "a", "b"}).text(), checksum({"a", "b", "b"}).text());
  EXPECT_NE(checksum({"a", "a"}).text(), checksum({}).text());
}

TEST(multiset_checksum, is_the_same_on_every_machine) {
  EXPECT_EQ(checksum({"one", "two"}).text(), "fd250c64fd497b2b858de85b01d1ee47");
}

}  // namespace
}  // namespace outsize::tool
