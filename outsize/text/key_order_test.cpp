// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// One key: that each option selects its comparison, and the code that goes with it.
#include <outsize/text/key_order.hpp>

#include <string_view>

#include <gtest/gtest.h>

namespace outsize::text {
namespace {

key_order order_of(std::string_view key, std::optional<char> separator = {}) {
  return key_order(parse_key(key), separator);
}

// Checks that `a` comes before `b` and that the codes, which differ, say the same.
void expect_before(std::string_view key, std::string_view a, std::string_view b) {
  key_order const order = order_of(key);
  EXPECT_LT(order.compare(a, b), 0) << key << ": " << a << ", " << b;
  EXPECT_GT(order.compare(b, a), 0) << key << ": " << a << ", " << b;
  EXPECT_EQ(order.compare(a, a), 0);
  EXPECT_LT(order.code(a).code, order.code(b).code) << key << ": " << a << ", " << b;
}

TEST(key_order, compares_as_the_options_say) {
  expect_before("1", "10", "9");
  expect_before("1n", "9", "10");
  expect_before("1h", "9K", "1M");
  expect_before("1hf", "9k", "1m");
  expect_before("1g", "9e1", "1e2");
  expect_before("1M", "feb", "apr");
  expect_before("1V", "a9", "a10");
  expect_before("1f", "a", "B");
  expect_before("1d", "-a", ".b");
  expect_before("1i", "\x01z", "\x02~");
}

TEST(key_order, turns_round_with_r) {
  expect_before("1r", "9", "10");
  expect_before("1nr", "10", "9");
  expect_before("1Mr", "mar", "feb");
  expect_before("1fr", "B", "a");
  expect_before("1r", "ab", "a");
}

TEST(key_order, finds_its_key) {
  expect_before("2,2", "z a z", "a b a");
  key_order const second = order_of("2,2", ':');
  EXPECT_EQ(second.compare("x:same:y", "a:same:b"), 0);
  EXPECT_EQ(second.code("x:same:y").code, second.code("a:same:b").code);
  EXPECT_EQ(second.code("x:same:y").bits, 40);
  EXPECT_EQ(order_of("2M", ':').code("x:jan").bits, 4);
}

}  // namespace
}  // namespace outsize::text
