// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Offset-value codes against the order of the records, from every base that comes before them.

#include <outsize/kernel/detail/offset_codes.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace outsize::detail {
namespace {

/// Records in their order; many differ late, or in zeros at their ends only.
std::vector<std::string> records(byte_order const& order) {
  std::mt19937_64 random(11);
  std::vector<std::string> all{"", std::string(1, '\0'), std::string(6, '\0'),
                               std::string(13, '\0')};
  for (std::string const front : {"", "abcdef", "abcdefghijklmnopq"})
    for (int i = 0; i < 30; ++i) {
      std::string s = front + std::string(random() % 9, '\0');
      for (std::size_t at = front.size(); at < s.size(); ++at) s[at] = "\0\0a\xff"[random() % 4];
      all.push_back(s);
    }
  std::ranges::sort(all, [&](auto const& a, auto const& b) { return order.compare(a, b) < 0; });
  return all;
}

/// Records without end that agree in more bytes than codes tell.
std::vector<std::string> long_records(byte_order const& order) {
  std::vector<std::string> all;
  for (std::size_t const length : {393'203U, 393'210U, 400'000U})
    for (char const last : {'\0', 'a', 'b'}) {
      all.emplace_back(length, 'x');
      all.back().back() = last;
    }
  std::ranges::sort(all, [&](auto const& a, auto const& b) { return order.compare(a, b) < 0; });
  return all;
}

void expect_codes_of_order(byte_order const& order, std::vector<std::string> const& all) {
  offset_codes const codes(order);
  for (std::size_t base = 0; base < all.size(); ++base)
    for (std::size_t i = base; i < all.size(); ++i) {
      auto const code = codes.against(all[base], all[i]);
      EXPECT_EQ(code == offset_codes::same, all[base] == all[i]);
      EXPECT_LT(code, offset_codes::none);
      for (std::size_t j = i; j < all.size(); ++j) {
        auto const later = codes.against(all[base], all[j]);
        ASSERT_LE(code, later) << base << ' ' << i << ' ' << j;
        if (code < later) {
          ASSERT_EQ(codes.against(all[i], all[j]), later) << base << ' ' << i << ' ' << j;
          continue;
        }
        auto const match = codes.compare(all[i], all[j], code);
        auto const turned = codes.compare(all[j], all[i], code);
        ASSERT_FALSE(match.b_is_less);
        ASSERT_EQ(match.of_other, codes.against(all[i], all[j])) << base << ' ' << i << ' ' << j;
        ASSERT_EQ(turned.b_is_less, all[i] != all[j]);
        ASSERT_EQ(turned.of_other, match.of_other);
      }
    }
}

class offset_codes_of : public testing::TestWithParam<bool> {
 protected:
  byte_order const order{.descending = GetParam()};
};
INSTANTIATE_TEST_SUITE_P(orders, offset_codes_of, testing::Bool());

TEST_P(offset_codes_of, records_have_their_order_from_any_base) {
  expect_codes_of_order(order, records(order));
}

TEST_P(offset_codes_of, records_that_are_longer_than_codes_tell) {
  expect_codes_of_order(order, long_records(order));
}

TEST_P(offset_codes_of, first_records_have_their_order) {
  offset_codes const codes(order);
  auto const all = records(order);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i; j < all.size(); ++j) {
      auto const a = codes.of_first(all[i]), b = codes.of_first(all[j]);
      ASSERT_LE(a, b);
      if (a < b) {
        ASSERT_EQ(codes.against(all[i], all[j]), b);
      } else {
        ASSERT_EQ(codes.compare(all[i], all[j], a).of_other, codes.against(all[i], all[j]));
      }
    }
}

}  // namespace
}  // namespace outsize::detail
