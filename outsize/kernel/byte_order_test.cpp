// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The order of bytes against std::string's, and the prefix against the order.

#include <outsize/kernel/byte_order.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace outsize {
namespace {

std::vector<std::string> strings() {
  std::mt19937_64 random(3);
  std::vector<std::string> all{"",  std::string(1, '\0'),  std::string(9, '\0'),
                               "a", std::string("a\0", 2), "\xff"};
  for (int i = 0; i < 60; ++i) {
    std::string s(random() % 12, 'a');
    for (char& c : s) c = "a\0\x7f\x80\xff"[random() % 5];
    all.push_back(s);
  }
  return all;
}

int sign(int value) { return value < 0 ? -1 : value > 0 ? 1 : 0; }

TEST(byte_order, compares_as_unsigned_bytes_and_shorter_first) {
  byte_order const up{}, down{.descending = true};
  for (auto const& a : strings())
    for (auto const& b : strings()) {
      int const want = a < b ? -1 : a == b ? 0 : 1;
      EXPECT_EQ(sign(up.compare(a, b)), want);
      EXPECT_EQ(sign(down.compare(a, b)), -want);
      EXPECT_EQ(up.equal_keys(a, b), want == 0);
    }
}

TEST(byte_order, has_prefixes_that_never_contradict_it) {
  for (byte_order const order : {byte_order{}, byte_order{.descending = true}})
    for (auto const& a : strings())
      for (auto const& b : strings())
        if (order.prefix(a) < order.prefix(b)) {
          EXPECT_LT(order.compare(a, b), 0);
        }
}

TEST(byte_order, puts_the_first_eight_bytes_into_the_prefix) {
  EXPECT_EQ(byte_order{}.prefix("abcdefghij"), 0x6162636465666768U);
  EXPECT_EQ(byte_order{}.prefix("a"), 0x6100000000000000U);
  EXPECT_EQ(byte_order{}.prefix(""), 0U);
}

TEST(byte_order, looks_deeper_where_prefixes_are_alike) {
  for (byte_order const order : {byte_order{}, byte_order{.descending = true}})
    for (std::string const common : {"", "12345678", "123456789012345"})
      for (auto const& s : strings())
        for (auto const& t : strings()) {
          auto const a = common + s, b = common + t;
          if (order.prefix(a) != order.prefix(b)) continue;
          key_depth const depth{.bytes = std::max<std::size_t>(8, common.size())};
          auto const deeper_a = order.deeper_prefix(a, depth);
          auto const deeper_b = order.deeper_prefix(b, depth);
          if (deeper_a != deeper_b) {
            EXPECT_EQ(deeper_a < deeper_b, order.compare(a, b) < 0);
            continue;
          }
          auto const alike = order.common_depth(a, b, depth);
          EXPECT_EQ(order.is_whole_key(alike), a == b);
          EXPECT_LE(order.deeper_depth(deeper_a, depth), alike);
          EXPECT_EQ(a.substr(0, alike.bytes), b.substr(0, alike.bytes));
        }
}

}  // namespace
}  // namespace outsize
