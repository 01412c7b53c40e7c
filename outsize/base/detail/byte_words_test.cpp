// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Words of byte strings against loops over their bytes; strings end where their memory ends.

#include <outsize/base/detail/byte_words.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace outsize::detail {
namespace {

/// Strings of all lengths up to 40 in memory of just that length.
std::vector<std::vector<char>> strings(char const* letters, std::size_t letter_count) {
  std::mt19937_64 random(7);
  std::vector<std::vector<char>> all;
  for (std::size_t length = 0; length <= 40; ++length)
    for (int i = 0; i < 8; ++i) {
      std::vector<char> s(length);
      for (char& c : s) c = letters[random() % letter_count];
      all.push_back(std::move(s));
    }
  return all;
}

std::string_view view(std::vector<char> const& s) { return {s.data(), s.size()}; }

TEST(byte_words, lead_with_the_first_byte_uppermost) {
  for (auto const& s : strings("a\0\x7f\x80\xff", 5)) {
    std::uint64_t want = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(8, s.size()); ++i)
      want |= std::uint64_t{static_cast<unsigned char>(s[i])} << (56 - 8 * i);
    EXPECT_EQ(leading_word(view(s)), want) << s.size() << " bytes";
  }
}

TEST(byte_words, of_the_lesser_string_are_never_greater) {
  auto const all = strings("\0\x80\xff", 3);
  for (auto const& a : all)
    for (auto const& b : all)
      if (view(a) < view(b)) {
        EXPECT_LE(leading_word(view(a)), leading_word(view(b)));
      }
}

TEST(byte_words, tell_how_far_strings_are_alike) {
  for (char const* letters : {"aaaaaaaaaaaaaaab", "a\0", "ab"}) {
    auto const all = strings(letters, letters[1] == 'a' ? 16 : 2);
    for (auto const& a : all)
      for (auto const& b : all) {
        std::size_t want = 0;
        while (want < std::min(a.size(), b.size()) && a[want] == b[want]) ++want;
        EXPECT_EQ(common_prefix_bytes(view(a), view(b)), want) << a.size() << ", " << b.size();
      }
  }
}

TEST(byte_words, copy_strings_to_places_of_their_length) {
  std::vector<std::byte> place(100);
  for (std::size_t length = 0; length <= 70; ++length) {
    std::string text(length, ' ');
    for (std::size_t i = 0; i < length; ++i) text[i] = static_cast<char>('0' + i);
    std::ranges::fill(place, std::byte{0xee});
    EXPECT_EQ(copy_short({text.data(), length}, &place[10]), &place[10 + length]);
    EXPECT_EQ(std::memcmp(&place[10], text.data(), length), 0) << length;
    EXPECT_EQ(std::ranges::count(place, std::byte{0xee}), 100 - static_cast<long>(length));
  }
}

}  // namespace
}  // namespace outsize::detail
