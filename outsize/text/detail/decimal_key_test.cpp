// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Decimal numbers: lists in ascending order, compared pair by pair.
#include <outsize/text/detail/decimal_key.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace outsize::text {
namespace {

using classes = std::vector<std::vector<std::string>>;

int sign(int value) { return (value > 0) - (value < 0); }

// Checks that keys of one class are equal and that classes ascend, for the comparison and its code.
template <typename Compare, typename Prefix>
void expect_ascending(classes const& ascending, Compare compare, Prefix prefix) {
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      int const expected = (i > j) - (i < j);
      for (auto const& a : ascending[i]) {
        for (auto const& b : ascending[j]) {
          EXPECT_EQ(sign(compare(a, b)), expected) << a << " and " << b;
          if (prefix(a) < prefix(b)) {
            EXPECT_LT(expected, 0) << a << " and " << b;
          }
        }
      }
    }
  }
}

TEST(decimal_key, orders_numbers_of_any_length) {
  std::string const nines(80, '9');
  std::string const long_one = fmt::format("1{}", std::string(80, '0'));
  classes const ascending = {
      {fmt::format("-{}", long_one)},
      {fmt::format("-{}.5", nines)},
      {fmt::format("-{}", nines), fmt::format("-00{}.0", nines)},
      {"-10", "  -10", "-010.000", "-10e5", "-10-"},
      {"-9.5"},
      {"-1"},
      {"-.5", "-0.50"},
      {"-0.000000000000000000000000000001"},
      {"", "0", "-", "-0", "-0.0", ".", "-.", "+5", "--5", "x", "- 5", "\n", "\v5", "\xff"},
      {"0.000000000000000000000000000001"},
      {".05"},
      {".5", "0.5", "00.500", ".5.7"},
      {"1", "1.", "1,000", "1e3", "\t \n1x"},
      {"12345678901234567"},
      {"12345678901234567.1"},
      {"12345678901234567.2"},
      {"123456789012345678"},
      {"123456789012345679"},
      {nines},
      {nines + ".5"},
      {long_one}};
  expect_ascending(ascending, compare_decimal, decimal_prefix);
}

TEST(decimal_key, skips_the_byte_that_gnu_sort_takes_for_a_separator) {
  classes const ascending = {{"-1\2000"},
                             {"\200", "0\2000"},
                             {"9"},
                             {"10", "1\2000", "\20010", "0\2000\20010\200.0"},
                             {"11", "\200\2001\200\2001"},
                             {"1\2001.5", "11.5"}};
  expect_ascending(ascending, compare_decimal, decimal_prefix);
}

TEST(decimal_key, has_different_codes_for_different_short_numbers) {
  EXPECT_LT(decimal_prefix("12345678901234566"), decimal_prefix("12345678901234567"));
  EXPECT_LT(decimal_prefix("-0.02"), decimal_prefix("-0.01"));
  EXPECT_LT(decimal_prefix("0"), decimal_prefix("0.0000000000000001"));
}

TEST(decimal_key, orders_units_before_numbers) {
  classes const ascending = {{"-1Y"},
                             {"-2M"},
                             {"-1M"},
                             {"-9999K", "-9999k"},
                             {"-5"},
                             {"", "0", "0G", "-0T", "K", "x", "0.0M", "-.K"},
                             {"1"},
                             {"1.5", "1.5Q", "1.5R", "1.5m", "1.5 K"},
                             {"9999"},
                             {"0.5K", ".5k"},
                             {"5K", "5.K", "5k", "05.0KiB"},
                             {"1M"},
                             {"2M"},
                             {"0.1G"},
                             {"1T"},
                             {"1P"},
                             {"1E"},
                             {"1Z"},
                             {"1Y"}};
  auto const compare = [](auto const& a, auto const& b) { return compare_human(a, b, false); };
  auto const prefix = [](auto const& text) { return human_prefix(text, false); };
  expect_ascending(ascending, compare, prefix);
  EXPECT_LT(compare_human("9K", "1m", true), 0);
  EXPECT_LT(human_prefix("9K", true), human_prefix("1m", true));
}

}  // namespace
}  // namespace outsize::text
