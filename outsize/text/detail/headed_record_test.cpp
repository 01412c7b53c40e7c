// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// Numbers in front of texts, and orders by either.

#include <outsize/text/detail/headed_record.hpp>

#include <gtest/gtest.h>

#include <string>

#include <outsize/algorithm/record_sorter.hpp>

namespace outsize::text {
namespace {

static_assert(record_ordering<headed_order>);

std::string headed(std::uint64_t number, std::string_view text) {
  std::string record = "what was there before";
  assign_headed(record, number, text);
  return record;
}

TEST(headed_record, gives_back_what_it_was_made_of) {
  for (std::uint64_t const number : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    EXPECT_EQ(header_of(headed(number, "text")), number);
    EXPECT_EQ(behind_header(headed(number, "text")), "text");
    EXPECT_EQ(behind_header(headed(number, "")), "");
  }
  EXPECT_EQ(behind_header("short"), "");
}

TEST(headed_record, compares_by_one_part_or_the_other) {
  auto const a = headed(256, "a");
  auto const b = headed(2, "b");
  headed_order const by_number;
  EXPECT_GT(by_number.compare(a, b), 0);
  EXPECT_LT(by_number.prefix(b), by_number.prefix(a));
  EXPECT_TRUE(by_number.equal_keys(a, headed(256, "other")));
  line_order const lines({});
  headed_order const by_text(lines);
  EXPECT_LT(by_text.compare(a, b), 0);
  EXPECT_LT(by_text.prefix(a), by_text.prefix(b));
  EXPECT_TRUE(by_text.equal_keys(a, headed(7, "a")));
}

}  // namespace
}  // namespace outsize::text
