// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Floating-point keys: an ascending list, and random numbers against strtold.
#include <outsize/text/detail/general_key.hpp>

#include <cstddef>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace outsize::text {
namespace {

int sign(int value) { return (value > 0) - (value < 0); }

TEST(general_key, orders_what_is_no_number_then_nan_then_numbers) {
  std::vector<std::vector<std::string>> const ascending = {
      {"", "x", "-", "+", ".", "-.e5", "e5", "in", "na", "--1"},
      {"nan", "NaN", "+nan", "nan()", "nan(0)", "nan(08)", "nan(0x)", "nan(1", "nan(x)", "nanx"},
      {"-nan", "-NAN(0"},
      {"nan(256)", "nan(0x100)", "nan(0400)"},
      {"nan(1)", "nan(01)"},
      {"-nan(1)"},
      {"nan(2)"},
      {"-inf", "-Infinity", "-infx", "-1e9999", "-1e99999999999999999999", "-0x1p999999"},
      {"-1e4000"},
      {"-5", "-5.", "-.5e1", "-50e-1", " \t\n\v\f\r-5", "-0x5", "-0X.ap3"},
      {"0", "-0", ".0", "0x", "0xg", "0x.", "0e5", "1e-99999999999999999999", "0x0.0p4"},
      {"1e-4000"},
      {"0.1", "1e-1", "0.100000000000000000000000000000000000000"},
      {"1", "1e", "1e+", "1e+-2", "1p3", "1e0", "0x1p", "+1", "1.0.0", "1e0x5"},
      {"24", "0x18", "0x1.8p4", "0x.18p8", "0x18000p-12"},
      {"9223372036854775807"},
      {"9223372036854775808"},
      {"18446744073709551615", "0xffffffffffffffff"},
      {"18446744073709551616", "18446744073709551615.9", "0x10000000000000000"},
      {"1e400"},
      {"inf", "INF", "infinity", "+infinit", "1e5000", "0x1p99999999999999999999"}};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      int const expected = (i > j) - (i < j);
      for (auto const& a : ascending[i]) {
        for (auto const& b : ascending[j]) {
          EXPECT_EQ(sign(compare_general(a, b)), expected) << a << " and " << b;
          if (general_prefix(a) < general_prefix(b)) {
            EXPECT_LT(expected, 0) << a << " and " << b;
          }
        }
      }
    }
  }
}

TEST(general_key, reads_only_the_bytes_it_was_given) {
  std::string const text = "12345e3nan(5)";
  EXPECT_EQ(compare_general(std::string_view(text).substr(0, 2), "12"), 0);
  EXPECT_EQ(compare_general(std::string_view(text).substr(0, 6), "12345"), 0);
  EXPECT_EQ(compare_general(std::string_view(text).substr(7, 5), "nan"), 0);
  EXPECT_EQ(compare_general(std::string_view("1\0002", 3), "1"), 0);
}

std::string random_number(std::mt19937_64& random) {
  bool const hexadecimal = random() % 4 == 0;
  std::string_view const digits = hexadecimal ? "0123456789abcdef" : "0123456789";
  std::string text = random() % 2 ? "" : "-";
  if (hexadecimal) text += "0x";
  std::size_t const length = 1 + random() % (random() % 8 ? 24 : 300);
  std::size_t const point = random() % (2 * length);
  for (std::size_t i = 0; i < length; ++i) {
    if (i == point) text += '.';
    text += random() % 4 ? digits[random() % digits.size()] : '0';
  }
  if (random() % 2) {
    int const range = random() % 2 ? 40 : 5200;
    int const exponent = static_cast<int>(random() % static_cast<unsigned>(2 * range)) - range;
    text += fmt::format("{}{}", hexadecimal ? 'p' : 'e', hexadecimal ? 4 * exponent : exponent);
  }
  return text;
}

TEST(general_key, agrees_with_strtold) {
  std::uint64_t const seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  std::string last = "0";
  for (int i = 0; i < 20'000 && !HasFailure(); ++i) {
    std::string const text = random_number(random);
    long double const a = std::strtold(last.c_str(), nullptr);
    long double const b = std::strtold(text.c_str(), nullptr);
    EXPECT_EQ(compare_general(last, text), (a > b) - (a < b)) << last << " and " << text;
    // The value written out with enough digits to tell it from its neighbours must be equal.
    EXPECT_EQ(compare_general(text, fmt::format("{:.36e}", b)), 0) << text;
    if (general_prefix(last) < general_prefix(text)) {
      EXPECT_LT(a, b) << last << " and " << text;
    }
    last = text;
  }
}

TEST(general_key, rounds_numbers_that_no_buffer_holds) {
  std::string const zeros(20'000, '0');
  EXPECT_EQ(compare_general(fmt::format("1{}e-20000", zeros), "1"), 0);
  EXPECT_EQ(compare_general(fmt::format(".{}1e20001", zeros), "1"), 0);
  EXPECT_EQ(compare_general(fmt::format("0x1{}p-80000", zeros), "1"), 0);
  // Halfway between two neighbours is rounded to even, anything above is rounded up.
  EXPECT_EQ(compare_general("18446744073709551617", "18446744073709551616"), 0);
  EXPECT_EQ(compare_general(fmt::format("18446744073709551617.{}1", zeros), "18446744073709551618"),
            0);
  EXPECT_EQ(compare_general(fmt::format("0x10000000000000001.{}1", zeros), "18446744073709551618"),
            0);
}

}  // namespace
}  // namespace outsize::text
