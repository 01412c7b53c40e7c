// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// Numbers in front of texts, and the two orders.

#include <outsize/text/headed_record.hpp>

#include <gtest/gtest.h>

#include <string>

#include <outsize/algorithm/record_sorter.hpp>

namespace outsize::text {
namespace {

static_assert(record_ordering<by_header>);
static_assert(record_ordering<by_text_behind<byte_order>>);

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
  EXPECT_GT(by_header{}.compare(a, b), 0);
  EXPECT_LT(by_header{}.prefix(b), by_header{}.prefix(a));
  EXPECT_TRUE(by_header{}.equal_keys(a, headed(256, "other")));
  by_text_behind<byte_order> const by_text{};
  EXPECT_LT(by_text.compare(a, b), 0);
  EXPECT_LT(by_text.prefix(a), by_text.prefix(b));
  EXPECT_TRUE(by_text.equal_keys(a, headed(7, "a")));
}

}  // namespace
}  // namespace outsize::text
