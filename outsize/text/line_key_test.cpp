// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Keys as users write them, and the part of a line that they name.
#include <outsize/text/line_key.hpp>

#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace outsize::text {
namespace {

std::string_view part(std::string_view line, std::string_view key,
                      std::optional<char> separator = {}) {
  return key_span(line, parse_key(key), separator);
}

std::string refusal(std::string_view text) {
  try {
    parse_key(text);
  } catch (std::invalid_argument const& error) {
    return error.what();
  }
  return "accepted";
}

TEST(line_key, reads_positions_and_options) {
  line_key expected{.begin_field = 1, .begin_char = 2, .end_field = 3, .end_char = 4};
  EXPECT_EQ(parse_key("2.3,4.4"), expected);
  expected.order = {.numeric = true, .reverse = true};
  expected.skip_begin_blanks = true;
  EXPECT_EQ(parse_key("2.3nb,4.4r"), expected);
  EXPECT_EQ(parse_key("1"), line_key{});
  EXPECT_EQ(parse_key("1,1.0b"), (line_key{.end_field = 0, .skip_end_blanks = true}));
}

TEST(line_key, survives_numbers_of_any_length) {
  EXPECT_EQ(part("a b", "99999999999999999999999"), "");
  EXPECT_EQ(part("a b", "1.99999999999999999999999"), "");
  EXPECT_EQ(part("a b", "1,99999999999999999999999"), "a b");
  EXPECT_EQ(part("a b", "1,1.18446744073709551615"), "a b");
}

TEST(line_key, names_the_key_it_refuses) {
  EXPECT_EQ(refusal("0"), "key '0': field numbers start at 1");
  EXPECT_EQ(refusal("1,0"), "key '1,0': field numbers start at 1");
  EXPECT_EQ(refusal("1.0"), "key '1.0': character positions start at 1");
  EXPECT_EQ(refusal(""), "key '': a field number is missing");
  EXPECT_EQ(refusal("-1"), "key '-1': a field number is missing");
  EXPECT_EQ(refusal("1,"), "key '1,': a field number after ',' is missing");
  EXPECT_EQ(refusal("1.n"), "key '1.n': a character position after '.' is missing");
  EXPECT_EQ(refusal("1x"), "key '1x': 'x' is neither a position nor an ordering option");
  EXPECT_EQ(refusal("1,2,3"), "key '1,2,3': ',' is neither a position nor an ordering option");
}

TEST(line_key, inherits_unless_it_has_an_option) {
  EXPECT_TRUE(parse_key("1.2,3.4").inherits());
  for (auto const* key : {"1r", "1b", "1,2b", "1,2n"}) EXPECT_FALSE(parse_key(key).inherits());
}

TEST(line_key, leaves_blanks_to_the_field_behind_them) {
  EXPECT_EQ(part("  ab\tcd ef", "1,1"), "  ab");
  EXPECT_EQ(part("  ab\tcd ef", "2,2"), "\tcd");
  EXPECT_EQ(part("  ab\tcd ef", "2"), "\tcd ef");
  EXPECT_EQ(part("  ab\ncd", "2"), "\ncd");
  EXPECT_EQ(part("ab ", "2"), " ");
  EXPECT_EQ(part("ab ", "3"), "");
}

TEST(line_key, skips_blanks_before_it_counts) {
  EXPECT_EQ(part("  ab   cd ef", "2b,2"), "cd");
  EXPECT_EQ(part("  ab   cd ef", "2.2b,2"), "d");
  EXPECT_EQ(part("  ab   cd ef", "2.2,2"), "  cd");
  EXPECT_EQ(part("  ab   cd ef", "2b,2.1b"), "c");
  EXPECT_EQ(part("  ab   cd ef", "2b,2.1"), "");
}

TEST(line_key, ends_fields_at_a_separator) {
  EXPECT_EQ(part(":a:: b:c", "1,1", ':'), "");
  EXPECT_EQ(part(":a:: b:c", "2,2", ':'), "a");
  EXPECT_EQ(part(":a:: b:c", "2,3", ':'), "a:");
  EXPECT_EQ(part(":a:: b:c", "4,4", ':'), " b");
  EXPECT_EQ(part(":a:: b:c", "4b,4", ':'), "b");
  EXPECT_EQ(part(":a:: b:c", "5", ':'), "c");
  EXPECT_EQ(part("a  b", "3", ' '), "b");
  EXPECT_EQ(part(std::string_view("a\0b", 3), "2", '\0'), "b");
}

TEST(line_key, may_end_behind_or_in_front_of_its_field) {
  EXPECT_EQ(part("ab:cd:ef", "1,1.5", ':'), "ab:cd");
  EXPECT_EQ(part("ab:cd:ef", "2,1.5", ':'), "cd");
  EXPECT_EQ(part("ab:cd:ef", "2,1", ':'), "");
  EXPECT_EQ(part("ab:cd:ef", "3,1.2", ':'), "");
  EXPECT_EQ(part("ab cd ef", "1.3,2"), " cd");
  EXPECT_EQ(part("", "2.3,4.5"), "");
  EXPECT_EQ(part({}, "2,3", ':'), "");
}

TEST(line_key, finds_fields_however_many_are_in_front) {
  std::mt19937 random(3);
  for (std::size_t const count : {1UL, 4UL, 5UL, 30UL, 200UL}) {
    std::vector<std::string> separated, words;
    std::string line_of_separated, line_of_words;
    for (std::size_t i = 0; i < count; ++i) {
      separated.emplace_back(random() % 5, 'x');
      words.push_back(std::string(random() % 3 + (i > 0 ? 1 : 0), ' ') +
                      std::string(random() % 5 + 1, 'x'));
      line_of_separated += (i > 0 ? ":" : "") + separated.back();
      line_of_words += words.back();
    }
    for (std::size_t i = 0; i < count + 3; ++i) {
      line_key const one{.begin_field = i, .end_field = i};
      EXPECT_EQ(key_span(line_of_separated, one, ':'), i < count ? separated[i] : "");
      EXPECT_EQ(key_span(line_of_words, one, {}), i < count ? words[i] : "");
    }
    line_key const last_five{.begin_field = count - 1, .end_field = count + 4};
    EXPECT_EQ(key_span(line_of_separated, last_five, ':'), separated.back());
    EXPECT_EQ(key_span(line_of_words, last_five, {}), words.back());
  }
}

}  // namespace
}  // namespace outsize::text
