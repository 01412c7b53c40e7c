// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// How keys, global options and whole lines work together; gnu_sort_test.cpp tests the rest.
#include <outsize/text/line_order.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <outsize/testing/index_places.hpp>
#include <outsize/text/csv_field.hpp>

namespace outsize::text {
namespace {

line_order order_of(std::vector<std::string_view> const& keys, std::string_view global = "",
                    std::optional<char> separator = {}) {
  line_order_options options{.separator = separator};
  for (auto const key : keys) options.keys.push_back(parse_key(key));
  for (char const letter : global) set_option(options.global, letter);
  return line_order(options);
}

void expect_before(line_order const& order, std::string_view a, std::string_view b) {
  EXPECT_LT(order.compare(a, b), 0) << a << ", " << b;
  EXPECT_GT(order.compare(b, a), 0) << a << ", " << b;
  EXPECT_LE(order.prefix(a), order.prefix(b)) << a << ", " << b;
}

TEST(line_order, is_byte_order_by_default) {
  line_order const order = order_of({});
  EXPECT_TRUE(order.is_byte_order());
  EXPECT_FALSE(order.is_reversed());
  expect_before(order, "", "a");
  expect_before(order, "a", std::string_view("a\0", 2));
  expect_before(order, "a", "\xff");
  EXPECT_EQ(order.compare("same", "same"), 0);
  EXPECT_LT(order.prefix("abcdefg"), order.prefix("abcdefgh"));
}

TEST(line_order, reverses_whole_lines) {
  line_order const order = order_of({}, "r");
  EXPECT_TRUE(order.is_byte_order());
  EXPECT_TRUE(order.is_reversed());
  expect_before(order, "b", "a");
  EXPECT_LT(order.prefix("b"), order.prefix("a"));
}

TEST(line_order, makes_the_line_a_key_for_global_options) {
  line_order const order = order_of({}, "n");
  EXPECT_FALSE(order.is_byte_order());
  expect_before(order, "9", "10");
  expect_before(order, "+", "-");
  EXPECT_TRUE(order.equal_keys("+", "-"));
  expect_before(order_of({}, "nr"), "-", "+");
  expect_before(order_of({}, "b"), "  a", " b");
}

TEST(line_order, gives_global_options_to_keys_that_have_none) {
  expect_before(order_of({"2", "1"}, "n"), "2 9", "1 10");
  expect_before(order_of({"2f", "1"}, "n"), "1 10", "2 9");
  expect_before(order_of({"2r"}, "n"), "2 9", "1 10");
  expect_before(order_of({"2,2", "1,1"}, "b"), "b   x", "a y");
  expect_before(order_of({"2,2n"}, "r"), "b 1", "a 1");
}

TEST(line_order, asks_one_key_after_the_other) {
  line_order const order = order_of({"2,2M", "1,1nr"}, "", ':');
  expect_before(order, "1:jan", "2:feb");
  expect_before(order, "2:jan", "1:jan");
  expect_before(order, "2:jan:a", "2:jan:b");
  EXPECT_TRUE(order.equal_keys("2:jan:a", "2:jan:b"));
  EXPECT_LT(order.prefix("2:jan"), order.prefix("1:jan")) << "a month leaves room for the next key";
}

TEST(line_order, puts_the_next_key_behind_a_short_text) {
  line_order const order = order_of({"1,1", "2,2r"}, "", ':');
  EXPECT_LT(order.prefix("ab:z"), order.prefix("ab:a"));
  EXPECT_LT(order.prefix("ab:a"), order.prefix("abc:z"));
  line_order const second = order_of({"2,2"}, "", ':');
  EXPECT_LT(second.prefix("1:b"), second.prefix("2:b")) << "the whole line comes last";
}

TEST(line_order, leaves_out_the_whole_line_if_stable_or_unique) {
  line_order_options options{.keys = {parse_key("1,1")}};
  options.stable = true;
  EXPECT_EQ(line_order(options).compare("a b", "a c"), 0);
  EXPECT_EQ(line_order(options).prefix("a b"), line_order(options).prefix("a c"));
  options = {.unique = true};
  EXPECT_NE(line_order(options).compare("a b", "a c"), 0) << "without keys the line is the key";
  EXPECT_FALSE(line_order(options).equal_keys("a b", "a c"));
}

TEST(line_order, refuses_what_no_order_satisfies) {
  EXPECT_THROW(order_of({}, "nM"), std::invalid_argument);
  EXPECT_THROW(order_of({"1", "2d"}, "nM"), std::invalid_argument);
  EXPECT_NO_THROW(order_of({"1n", "2d"}, "nM")) << "options that no key inherits do not matter";
}

TEST(line_order, is_of_unquoted_values_for_csv) {
  line_order_options options{.csv = csv_format{}};
  options.keys = {one_field_key(parse_key("2n")), one_field_key(parse_key("1r"))};
  line_order const order(options);
  expect_before(order, "a,9", R"("x,1","10")");
  expect_before(order, R"("b""",1)", R"("b",1)");
  EXPECT_TRUE(order.equal_keys(R"("a",1,x)", R"(a,"1",y)"));
  EXPECT_EQ(order.prefix(R"("a",1)"), order.prefix("a,\"1\""));
}

TEST(line_order, is_of_whole_records_without_keys) {
  line_order_options options{.csv = csv_format{}};
  set_option(options.global, 'f');
  expect_before(line_order(options), "a,B", "A,c");
}

// ---- what follows equal prefixes ----

static_assert(deepening_order<line_order>);

template <typename Items>
auto const& any_of(std::mt19937_64& random, Items const& items) {
  return items[random() % std::size(items)];
}

/// One to three keys of any kind, in any format.
line_order_options random_options(std::mt19937_64& random) {
  constexpr std::string_view keys[] = {"1",    "2",     "2,2",   "1,1",  "2r",   "2,2r",  "1.3,1.9",
                                       "2.2",  "3,1",   "4,4",   "2b",   "2,2f", "2,2fr", "2d",
                                       "2,2i", "2,2di", "1,1df", "1,1n", "1nr",  "2,2M",  "2h",
                                       "2g",   "2V",    "2,2Vf", "2R",   "2,3",  "1,2r"};
  line_order_options options;
  switch (random() % 4) {
    case 0:
      break;
    case 1:
      options.csv = csv_format{};
      break;
    default:
      options.separator = ',';
  }
  std::size_t const count = random() % 4;
  while (options.keys.size() < count) {
    auto const key = parse_key(any_of(random, keys));
    bool const spans =
        key.end_field != line_key::to_end_of_line && key.end_field != key.begin_field;
    if (options.csv && spans) continue;
    options.keys.push_back(options.csv ? one_field_key(key) : key);
  }
  if (random() % 3 == 0) set_option(options.global, any_of(random, std::string_view("rfbn")));
  options.stable = random() % 2 == 0;
  return options;
}

/// Fields of few beginnings, and few bytes behind them.
std::vector<std::string> similar_lines(std::mt19937_64& random, line_order_options const& options) {
  std::string_view const bytes =
      any_of(random,
             std::vector<std::string_view>{"ab", "aA-", {"a\0", 2}, {"\0\xff", 2}, "10", "a0 -.K"});
  std::vector<std::string> beginnings(1 + random() % 2, std::string(random() % 60, '\0'));
  for (auto& beginning : beginnings)
    for (char& byte : beginning) byte = any_of(random, bytes);
  std::size_t const longest = 1 + random() % 20;
  auto const field = [&] {
    std::string made = random() % 8 == 0 ? "" : any_of(random, beginnings);
    made.resize(made.size() - random() % (1 + made.size() / 4));
    for (std::size_t left = random() % longest; left > 0; --left) made += any_of(random, bytes);
    if (options.csv && random() % 3 == 0) made = '"' + made + (random() % 2 == 0 ? "\"\"\"" : "\"");
    return made;
  };
  char const separator = options.csv ? ',' : options.separator.value_or(' ');
  std::vector<std::string> lines(random() % 400);
  for (auto& line : lines) {
    line = field();
    for (auto left = random() % 4; left > 0; --left) line += separator + field();
  }
  return lines;
}

TEST(line_order, sorts_lines_of_any_keys_by_what_follows_equal_prefixes) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 1000; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    auto const options = random_options(random);
    line_order const order(options);
    auto const lines = similar_lines(random, options);
    ASSERT_EQ(scratch::index_places(order, lines), scratch::stable_places(order, lines));
  }
}

TEST(line_order, sorts_keys_that_part_one_by_one) {
  std::vector<std::string> lines;
  for (std::size_t length = 0; length < 1000; ++length)
    lines.push_back(std::to_string(length * 7 % 1000) + ',' + std::string(length, 'a') + ',');
  std::ranges::shuffle(lines, std::mt19937_64(1));
  for (auto const key : {"2,2", "2", "2,2r", "2,2f"}) {
    auto const order = order_of({key, "1,1nr"}, "", ',');
    EXPECT_EQ(scratch::index_places(order, lines), scratch::stable_places(order, lines)) << key;
  }
}

TEST(line_order, looks_at_long_common_keys_as_often_as_there_are_lines) {
  struct counting_order : line_order {
    std::size_t* looks;
    std::uint64_t deeper_prefix(std::string_view line, key_depth depth) const {
      ++*looks;
      return line_order::deeper_prefix(line, depth);
    }
  };
  std::vector<std::string> lines;
  for (int i = 0; i < 1000; ++i)
    lines.push_back(std::to_string(i * 7 % 1000) + ',' + std::string(3000, 'k'));
  std::size_t looks = 0;
  for (auto const key : {"2,2", "2,2r", "2,2f", "2,2d"}) {
    counting_order const order{order_of({key, "1,1n"}, "", ','), &looks};
    EXPECT_EQ(scratch::index_places(order, lines), scratch::stable_places(order, lines)) << key;
    EXPECT_LT(looks, 4 * lines.size());
    looks = 0;
  }
}

}  // namespace
}  // namespace outsize::text
