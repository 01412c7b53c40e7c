// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Codes of all short texts over a small alphabet, against the order of the texts.
#include <outsize/text/detail/text_prefix.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <outsize/base/detail/byte_words.hpp>

namespace outsize::text {
namespace {

std::vector<std::string> short_texts() {
  std::vector<std::string> texts;
  for (std::size_t const length : {0U, 1U, 6U, 7U, 8U}) {
    std::string const front(length, 'a');
    texts.push_back(front);
    for (char const first : {'\0', '\x01', 'a', '\xff'}) {
      texts.push_back(front + first);
      for (char const second : {'\0', '\x01', 'a', '\xff'}) texts.push_back(front + first + second);
    }
  }
  return texts;
}

std::uint64_t leading(std::uint64_t code, int bits) { return bits == 0 ? 0 : code >> (64 - bits); }

TEST(text_prefix, leaves_room_only_behind_equal_texts) {
  for (auto const& a : short_texts()) {
    for (auto const& b : short_texts()) {
      auto const left = terminated_prefix(a, nullptr);
      auto const right = terminated_prefix(b, nullptr);
      int const bits = std::min(left.bits, right.bits);
      auto const left_code = leading(left.code, bits);
      auto const right_code = leading(right.code, bits);
      if (left_code != right_code) {
        EXPECT_EQ(left_code < right_code, a < b);
      } else if (left.bits < 64 && right.bits < 64) {
        EXPECT_EQ(a, b);
      } else if (left.bits < 64 || right.bits < 64) {
        // The rest of the longer one's code is the largest there is, whatever follows the other.
        auto const& longer = left.bits == 64 ? left : right;
        EXPECT_EQ(longer.code << bits, ~std::uint64_t{0} << bits);
        EXPECT_EQ(left.bits < 64, a < b);
      }
    }
  }
}

TEST(text_prefix, sees_what_the_filter_lets_through) {
  byte_filter const* const filter = filter_of({.dictionary = true, .fold = true});
  auto const short_one = terminated_prefix("-a_b-", filter);
  EXPECT_EQ(short_one.code, outsize::detail::leading_word("AB"));
  EXPECT_EQ(short_one.bits, 24);
  auto const long_one = terminated_prefix("a.b.c.d.e.f.g.h.i", filter);
  EXPECT_EQ(long_one.code, outsize::detail::leading_word("ABCDEFGH"));
  EXPECT_EQ(long_one.bits, 64);
}

}  // namespace
}  // namespace outsize::text
