// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// What d, i and f make of every byte, against a table written out by hand.
#include <outsize/text/detail/byte_filter.hpp>

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace outsize::text {
namespace {

std::string all_bytes() {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte)
    bytes += static_cast<char>(static_cast<unsigned char>(byte));
  return bytes;
}

std::string seen(std::string_view text, ordering const& order) {
  byte_filter const* const filter = filter_of(order);
  std::string result;
  filtered_cursor at(text.data(), text.data() + text.size(), *filter);
  for (; !at.done(); at.next()) result += at.value();
  EXPECT_EQ(at.position(), text.data() + text.size());
  at.next();
  EXPECT_TRUE(at.done());
  return result;
}

std::string const digits = "0123456789";
std::string const upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
std::string const lower = "abcdefghijklmnopqrstuvwxyz";

TEST(byte_filter, exists_only_where_an_option_asks_for_it) {
  EXPECT_EQ(filter_of({}), nullptr);
  EXPECT_EQ(filter_of({.blanks = true, .numeric = true, .reverse = true}), nullptr);
  EXPECT_NE(filter_of({.fold = true}), nullptr);
}

TEST(byte_filter, keeps_blanks_letters_and_digits_of_a_dictionary) {
  EXPECT_EQ(seen(all_bytes(), {.dictionary = true}), "\t\n " + digits + upper + lower);
  EXPECT_EQ(seen(all_bytes(), {.dictionary = true, .fold = true, .printable = true}),
            "\t\n " + digits + upper + upper);
}

TEST(byte_filter, keeps_printable_bytes) {
  std::string const printable = all_bytes().substr(' ', '~' - ' ' + 1);
  EXPECT_EQ(seen(all_bytes(), {.printable = true}), printable);
  EXPECT_EQ(seen("a\tB\x7f{\x80", {.fold = true, .printable = true}), "AB{");
}

TEST(byte_filter, folds_letters_only) {
  std::string expected = all_bytes();
  expected.replace('a', 26, upper);
  EXPECT_EQ(seen(all_bytes(), {.fold = true}), expected);
}

TEST(byte_filter, lets_a_text_end_anywhere) {
  std::string_view const text = "-a-b-";
  byte_filter const& filter = *filter_of({.dictionary = true});
  filtered_cursor const at(text.data(), text.data() + text.size(), filter);
  EXPECT_EQ(at.value(), 'a');
  EXPECT_TRUE(at.until(at.position()).done());
  EXPECT_EQ(seen("---", {.dictionary = true}), "");
  raw_cursor const raw(text.data(), text.data() + 1);
  EXPECT_EQ(raw.value(), '-');
  EXPECT_EQ(raw.until(text.data()).value(), '\0');
}

}  // namespace
}  // namespace outsize::text
