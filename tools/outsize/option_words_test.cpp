// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Words of options: whole, abbreviated, and what is said about others.
#include <tools/outsize/option_words.hpp>

#include <gtest/gtest.h>

namespace outsize::tool {
namespace {

constexpr std::array words{option_word<int>{"auto", 1}, option_word<int>{"always", 2},
                           option_word<int>{"none", 3}, option_word<int>{"nonesuch", 4}};

std::string refusal(std::string_view text) {
  try {
    meaning_of(words, "--when", text);
  } catch (usage_error const& error) {
    return error.what();
  }
  return "accepted";
}

TEST(option_words, may_be_abbreviated_as_far_as_they_stay_one) {
  EXPECT_EQ(meaning_of(words, "--when", "auto"), 1);
  EXPECT_EQ(meaning_of(words, "--when", "al"), 2);
  EXPECT_EQ(meaning_of(words, "--when", "none"), 3);
  EXPECT_EQ(meaning_of(words, "--when", "nones"), 4);
}

TEST(option_words, that_are_none_or_several_are_refused_with_a_list) {
  EXPECT_EQ(refusal("never"),
            "--when 'never' is unknown; there are auto, always, none and nonesuch");
  EXPECT_EQ(refusal("a"), "--when 'a' is ambiguous; there are auto, always, none and nonesuch");
  EXPECT_EQ(refusal(""), "--when '' is ambiguous; there are auto, always, none and nonesuch");
  EXPECT_EQ(refusal("autos"),
            "--when 'autos' is unknown; there are auto, always, none and nonesuch");
}

}  // namespace
}  // namespace outsize::tool
