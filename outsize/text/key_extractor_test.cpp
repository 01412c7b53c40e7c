// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Extracted keys must compare as the lines do by these keys.
#include <outsize/text/key_extractor.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <outsize/text/csv_field.hpp>

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

TEST(key_extractor, makes_a_record_of_the_keys_of_csv) {
  auto const of = [](std::string_view record, std::vector<std::string> const& keys) {
    line_order_options options{.csv = csv_format{}};
    for (auto const& key : keys) options.keys.push_back(one_field_key(parse_key(key)));
    return extracted(record, options);
  };
  EXPECT_EQ(of("\"a\",\"b,\nc\",d\r", {}), "\"a\",\"b,\nc\",d\r");
  EXPECT_EQ(of("\"a\",\"b,\nc\",d\r", {"1"}), "a");
  EXPECT_EQ(of("\"a\",\"b,\nc\",d\r", {"3", "2"}), "d,\"b,\nc\"");
  EXPECT_EQ(of("a,\"b\"\"c\"", {"2.2,2.2", "7"}), "\"\"\"\",");
}

using texts = std::vector<std::string>;

void expect_same_order(line_order_options options, texts const& lines) {
  auto const sign = [](int value) { return (value > 0) - (value < 0); };
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

TEST(key_extractor, orders_texts_as_their_lines) {
  texts const lines{"a 1 x", "a 01 x", "b 2 X", "b 10 x", "", "a", "a b c", " "};
  expect_same_order({}, lines);
  expect_same_order({.global = {.fold = true}}, lines);
  expect_same_order({.keys = {parse_key("2,2n")}}, lines);
  expect_same_order({.keys = {parse_key("2,2n"), parse_key("1,1r")}}, lines);
  expect_same_order({.keys = {parse_key("3f"), parse_key("1,2")}}, lines);
  expect_same_order({.separator = ' ',
                     .keys = {parse_key("2,3"), parse_key("1.2,1")},
                     .global = {.reverse = true}},
                    lines);
}

TEST(key_extractor, orders_texts_as_their_records_of_csv) {
  csv_format const csv;
  texts const records{"\"a 1\",\"\"\"\"", "\"z\",\"1\n2\"", "z,1", "a,\",\"", "", "\"\",10\r"};
  expect_same_order({.csv = csv}, records);
  expect_same_order({.keys = {parse_key("1,1")}, .csv = csv}, records);
  expect_same_order({.keys = {parse_key("2,2n")}, .csv = csv}, records);
  expect_same_order({.keys = {parse_key("2,2"), parse_key("1,1r")}, .csv = csv}, records);
}

}  // namespace
}  // namespace outsize::text
