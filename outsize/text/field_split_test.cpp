// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Fields by hand; the comparison with join(1) is in tests/tool.
#include <outsize/text/field_split.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace outsize::text {
namespace {

using fields = std::vector<std::string_view>;

fields split(std::string_view line, std::optional<char> separator) {
  fields found{"what was there before"};
  split_fields(line, separator, found);
  return found;
}

TEST(field_split, parts_fields_at_blanks) {
  EXPECT_EQ(split("", {}), fields{});
  EXPECT_EQ(split("  ", {}), fields{});
  EXPECT_EQ(split(" a\t b", {}), (fields{"a", "b"}));
  EXPECT_EQ(split("a b  ", {}), (fields{"a", "b", ""}));
}

TEST(field_split, parts_fields_at_a_separator) {
  EXPECT_EQ(split("", ','), fields{});
  EXPECT_EQ(split("a", ','), fields{"a"});
  EXPECT_EQ(split(",a,", ','), (fields{"", "a", ""}));
  EXPECT_EQ(split("a b\nc", whole_line_separator), fields{"a b\nc"});
}

TEST(field_split, compares_by_bytes) {
  EXPECT_LT(compare_fields("", "a", false), 0);
  EXPECT_LT(compare_fields("B", "a", false), 0);
  EXPECT_GT(compare_fields("\x80", "z", false), 0);
  EXPECT_GT(compare_fields("B", "a", true), 0);
  EXPECT_EQ(compare_fields("aB", "Ab", true), 0);
  EXPECT_LT(compare_fields("a", "AB", true), 0);
  EXPECT_GT(compare_fields("\x80", "z", true), 0);
}

}  // namespace
}  // namespace outsize::text
