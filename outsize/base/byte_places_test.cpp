// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/byte_places.hpp>

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace outsize {
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

}  // namespace
}  // namespace outsize
