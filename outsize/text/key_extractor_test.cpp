// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Extracted keys must compare as the lines do by these keys.
#include <outsize/text/key_extractor.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace outsize::text {
namespace {

std::string extracted(std::string_view line, line_order_options const& options) {
  key_extractor keys(options, '\n');
  std::string const text(keys.extract(line));
  return std::string(keys.shown(text));
}

TEST(key_extractor, takes_the_keys_of_a_line) {
  EXPECT_EQ(extracted("a,b,c", {}), "a,b,c");
  EXPECT_EQ(extracted("a,b,c", {.separator = ',', .keys = {parse_key("2,2")}}), "b");
  EXPECT_EQ(extracted("a,b,c", {.separator = ',', .keys = {parse_key("2")}}), "b,c");
  EXPECT_EQ(extracted("a,b,c", {.separator = ',', .keys = {parse_key("3,3"), parse_key("1,2")}}),
            "c,a,b");
  EXPECT_EQ(extracted("ab  cd", {.keys = {parse_key("2b,2"), parse_key("1,1.1")}}), "cd a");
  EXPECT_EQ(extracted("ab  cd", {.keys = {parse_key("2,2")}, .global = {.blanks = true}}), "cd");
  EXPECT_EQ(extracted("a", {.keys = {parse_key("7"), parse_key("8")}}), " ");
}

TEST(key_extractor, orders_texts_as_their_lines) {
  std::vector<std::string> const lines{"a 1 x", "a 01 x", "b 2 X", "b 10 x", "", "a", "a b c", " "};
  auto const sign = [](int value) { return (value > 0) - (value < 0); };
  std::vector<line_order_options> const cases{{},
                                              {.global = {.fold = true}},
                                              {.keys = {parse_key("2,2n")}},
                                              {.keys = {parse_key("2,2n"), parse_key("1,1r")}},
                                              {.keys = {parse_key("3f"), parse_key("1,2")}},
                                              {.separator = ' ',
                                               .keys = {parse_key("2,3"), parse_key("1.2,1")},
                                               .global = {.reverse = true}}};
  for (auto options : cases) {
    options.stable = true;
    line_order const order(options);
    key_extractor keys(options, '\n');
    for (auto const& a : lines) {
      std::string const left(keys.extract(a));
      for (auto const& b : lines) {
        std::string const right(keys.extract(b));
        EXPECT_EQ(sign(keys.order().compare(left, right)), sign(order.compare(a, b)))
            << "'" << a << "' and '" << b << "'";
      }
    }
  }
}

}  // namespace
}  // namespace outsize::text
