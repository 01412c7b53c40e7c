// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/printable_text.hpp>

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

namespace outsize {
namespace {

TEST(printable_text, leaves_what_can_be_shown) {
  for (auto const* text : {"", "/data/a b'c\".txt", "Größe 😀 日本語", "~!@#$%^&*()", "e\u0301"})
    EXPECT_EQ(printable(text), text);
}

TEST(printable_text, escapes_control_characters) {
  EXPECT_EQ(printable("a\033[31mred"), "a\\033[31mred");
  EXPECT_EQ(printable("two\nlines\tand\rmore"), "two\\nlines\\tand\\rmore");
  EXPECT_EQ(printable(std::string_view("\0\a\b\x7F", 4)), "\\000\\007\\010\\177");
  EXPECT_EQ(printable("\u0085\u009B31m\u00A0"), "\\302\\205\\302\\23331m\u00A0") << "C1";
}

TEST(printable_text, escapes_what_turns_or_ends_lines) {
  EXPECT_EQ(printable("a\u202Etxt.exe"), "a\\342\\200\\256txt.exe");
  for (auto const* text :
       {"\u061C", "\u200E", "\u200F", "\u2028", "\u2029", "\u202A", "\u2066", "\u2069"})
    EXPECT_EQ(printable(text)[0], '\\') << text;
  for (auto const* text : {"\u200D", "\u2010", "\u202F", "\u2065", "\u206A"})
    EXPECT_EQ(printable(text), text);
}

TEST(printable_text, escapes_bytes_that_are_not_utf_8) {
  EXPECT_EQ(printable("caf\xE9"), "caf\\351");
  EXPECT_EQ(printable("\x9B"
                      "31m"),
            "\\23331m");
  EXPECT_EQ(printable("\xC0\xAF \xED\xA0\x80 \xF4\x90\x80\x80 \xE2\x82"),
            "\\300\\257 \\355\\240\\200 \\364\\220\\200\\200 \\342\\202");
}

TEST(printable_text, keeps_different_texts_different) {
  EXPECT_EQ(printable("a\\b\\033"), "a\\\\b\\\\033");
  std::vector<std::string> const pieces{"\\",   "n",    "\n",   "0",     "3",
                                        "\033", "\xC3", "\xA9", "\u202E"};
  std::mt19937_64 random(1);
  std::set<std::string> texts, shown;
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (auto count = random() % 6; count > 0; --count) text += pieces[random() % pieces.size()];
    texts.insert(text);
    shown.insert(printable(text));
  }
  EXPECT_EQ(texts.size(), shown.size());
  for (auto const& text : shown)
    EXPECT_EQ(detail::printable_bytes(text), std::min(text.find('\\'), text.size()));
}

}  // namespace
}  // namespace outsize
