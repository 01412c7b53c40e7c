// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Versions: lists in ascending order, compared pair by pair.
#include <outsize/text/detail/version_key.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace outsize::text {
namespace {

void expect_ascending(std::vector<std::vector<std::string>> const& ascending,
                      byte_filter const* filter = nullptr) {
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      int const expected = (i > j) - (i < j);
      for (auto const& a : ascending[i]) {
        for (auto const& b : ascending[j]) {
          int const order = compare_version(a, b, filter);
          EXPECT_EQ((order > 0) - (order < 0), expected) << a << " and " << b;
          if (version_prefix(a, filter) < version_prefix(b, filter)) {
            EXPECT_LT(expected, 0) << a << " and " << b;
          }
        }
      }
    }
  }
}

TEST(version_key, puts_dots_first) {
  expect_ascending({{""},
                    {"."},
                    {".."},
                    {".~"},
                    {".a"},
                    {".a.b"},
                    {".b"},
                    {"..a"},
                    {".1"},
                    {".a!"},
                    {"..a!"},
                    {"~"},
                    {"0", "00"},
                    {"a"}});
}

TEST(version_key, compares_digits_as_numbers) {
  std::string const many(300, '7');
  expect_ascending({{"a", "a0", "a000"},
                    {"a1", "a01"},
                    {"a2"},
                    {"a10", "a0010"},
                    {"a10b1"},
                    {"a10b12"},
                    {"a123456789012345678901234567890"},
                    {"a123456789012345678901234567891"},
                    {fmt::format("a{}", many)},
                    {fmt::format("a{}7", many)},
                    {fmt::format("a8{}", many)}});
}

TEST(version_key, puts_tilde_before_the_end_and_letters_before_the_rest) {
  expect_ascending({{"v1~"},
                    {"v1", "v01"},
                    {"v1A"},
                    {"v1Z"},
                    {"v1a"},
                    {"v1z"},
                    {"v1 "},
                    {"v1+"},
                    {"v1_"},
                    {"v1\xff"}});
  std::string const zeros(2, '\0');
  expect_ascending(
      {{"a"}, {fmt::format("a{}", zeros.substr(1))}, {fmt::format("a{}", zeros)}, {"a\x01"}});
}

TEST(version_key, looks_at_the_suffix_last) {
  expect_ascending(
      {{"a.tar"}, {"a.tar.gz"}, {"a.txt"}, {"a1.txt"}, {"a1.5.txt"}, {"a2.gz"}, {"ab.c"}});
  expect_ascending({{"a.~b"}, {"a.b~"}, {"a.b"}, {"a1"}, {"a.1"}, {"a.b-c"}, {"a.b.1"}});
}

TEST(version_key, sees_what_the_filter_lets_through) {
  byte_filter const* const filter = filter_of({.dictionary = true, .fold = true, .version = true});
  expect_ascending({{"", ".", "..", "-"}, {"a.1", "A1", "~a-01"}, {"b2"}, {"B.1.0"}, {"b12.tar"}},
                   filter);
}

}  // namespace
}  // namespace outsize::text
