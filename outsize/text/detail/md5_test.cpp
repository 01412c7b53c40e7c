// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The test suite of RFC 1321, whole and in pieces.
#include <outsize/text/detail/md5.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace outsize::detail {
namespace {

std::string hexadecimal(md5::digest const& digest) {
  return fmt::format("{:016x}{:016x}", digest.high, digest.low);
}

TEST(md5, agrees_with_the_test_suite_of_its_specification) {
  std::vector<std::pair<std::string, std::string>> const suite{
      {"", "d41d8cd98f00b204e9800998ecf8427e"},
      {"a", "0cc175b9c0f1b6a831c399e269772661"},
      {"abc", "900150983cd24fb0d6963f7d28e17f72"},
      {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
      {"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
      {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
       "d174ab98d277d9f5a5611c2c9f419d9f"},
      {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
       "57edf4a22be3c955ac49da2e2107b67a"}};
  for (auto const& [text, expected] : suite) {
    md5 whole;
    whole.add(text);
    EXPECT_EQ(hexadecimal(whole.finish()), expected);
    md5 pieces;
    for (char const& byte : text) pieces.add({&byte, 1});
    EXPECT_EQ(hexadecimal(pieces.finish()), expected);
  }
}

TEST(md5, does_not_depend_on_how_a_message_is_cut) {
  std::string const text(1000, 'x');
  for (std::size_t length = 0; length < 200; ++length) {
    md5 whole, pieces;
    whole.add(text.substr(0, length));
    pieces.add(text.substr(0, length / 3));
    pieces.add(text.substr(0, length - length / 3));
    EXPECT_EQ(whole.finish(), pieces.finish()) << length;
  }
}

}  // namespace
}  // namespace outsize::detail
