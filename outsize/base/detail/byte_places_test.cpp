// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/byte_places.hpp>

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace outsize::detail {
namespace {

std::vector<std::uint32_t> found_in(std::string_view text, char byte, std::size_t most) {
  std::vector<std::uint32_t> places(most);
  std::size_t const count = find_byte(text, byte, places);
  EXPECT_LE(count, most);
  places.resize(std::min(count, most));
  return places;
}

TEST(byte_places, are_those_where_the_byte_is) {
  EXPECT_EQ(found_in("one\ntwo\n\nthree", '\n', 10), (std::vector<std::uint32_t>{3, 7, 8}));
  EXPECT_EQ(found_in("one\ntwo\n\nthree", '\n', 2), (std::vector<std::uint32_t>{3, 7}));
  EXPECT_TRUE(found_in("one\n", '\n', 0).empty());
  EXPECT_TRUE(found_in("", '\n', 10).empty());
  EXPECT_TRUE(found_in("nothing", '\0', 10).empty());
}

TEST(byte_places, are_found_however_dense_and_wherever_the_text_begins) {
  std::mt19937 random(7);
  for (unsigned const one_in : {1U, 2U, 5U, 40U, 1000U})
    for (std::size_t const size : {63UL, 64UL, 65UL, 200UL, 4096UL}) {
      std::string text(size + 1, '\0');
      for (char& byte : text) byte = random() % one_in == 0 ? '\xff' : '\x7f';
      for (std::size_t const begin : {0UL, 1UL})
        for (std::size_t const most : {1UL, 63UL, 64UL, 100UL, 128UL, 5000UL}) {
          SCOPED_TRACE(testing::Message() << one_in << ' ' << size << ' ' << begin << ' ' << most);
          auto const part = std::string_view(text).substr(begin, size);
          std::vector<std::uint32_t> expected;
          for (std::uint32_t i = 0; i < part.size() && expected.size() < most; ++i)
            if (part[i] == '\xff') expected.push_back(i);
          EXPECT_EQ(found_in(part, '\xff', most), expected);
        }
    }
}

TEST(byte_places, are_found_by_their_number) {
  EXPECT_EQ(find_nth("one\ntwo\n\nthree", '\n', 0), 3U);
  EXPECT_EQ(find_nth("one\ntwo\n\nthree", '\n', 2), 8U);
  EXPECT_EQ(find_nth("one\ntwo\n\nthree", '\n', 3), 14U);
  EXPECT_EQ(find_nth("nothing", '\0', 0), 7U);
  EXPECT_EQ(find_nth("", '\0', 0), 0U);
  std::mt19937 random(8);
  for (unsigned const one_in : {1U, 2U, 5U, 40U})
    for (std::size_t const size : {1UL, 63UL, 64UL, 65UL, 128UL, 300UL}) {
      std::string text(size, ';');
      for (char& byte : text) byte = random() % one_in == 0 ? ',' : ';';
      std::size_t n = 0;
      for (std::size_t i = 0; i < size; ++i)
        if (text[i] == ',') {
          EXPECT_EQ(find_nth(text, ',', n++), i);
        }
      EXPECT_EQ(find_nth(text, ',', n), size);
      EXPECT_EQ(find_nth(text, ',', SIZE_MAX), size);
    }
}

TEST(byte_places, are_those_behind_words) {
  EXPECT_EQ(find_end_of_word("  one two", 0), 5U);
  EXPECT_EQ(find_end_of_word("  one two", 1), 9U);
  EXPECT_EQ(find_end_of_word("  one two", 2), 9U);
  EXPECT_EQ(find_end_of_word("one\ttwo\nthree", 1), 7U);
  EXPECT_EQ(find_end_of_word("   ", 0), 3U);
  EXPECT_EQ(find_end_of_word("", 0), 0U);
  std::mt19937 random(9);
  for (unsigned const one_in : {2U, 3U, 10U, 70U})
    for (std::size_t const size : {1UL, 63UL, 64UL, 65UL, 128UL, 300UL}) {
      std::string text(size, 'x');
      for (char& byte : text)
        if (random() % one_in == 0) byte = " \t\n"[random() % 3];
      std::size_t n = 0;
      for (std::size_t i = 1; i < size; ++i)
        if (text[i] != 'x' && text[i - 1] == 'x') {
          EXPECT_EQ(find_end_of_word(text, n++), i);
        }
      EXPECT_EQ(find_end_of_word(text, n), size);
    }
}

}  // namespace
}  // namespace outsize::detail
