// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/graph/detail/begun_input.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include <outsize/testing/pieced_input.hpp>

namespace user_code {
namespace {

using namespace outsize;
using graphs::detail::begun_input;

std::string rest_of(begun_input& in) {
  std::string all;
  for (auto bytes = in.next(); !bytes.empty(); bytes = in.next())
    all.append(reinterpret_cast<char const*>(bytes.data()), bytes.size());
  return all;
}

TEST(begun_input, gives_again_the_bytes_that_were_looked_at) {
  for (std::size_t const piece_bytes : {1, 3, 100}) {
    begun_input in(
        std::make_unique<pieced_input>("hello\nworld\n", pieced_input::options{piece_bytes}));
    auto const seen = in.look([](std::string_view text) { return text.find('\n') != text.npos; });
    EXPECT_TRUE(seen.starts_with("hello\n")) << piece_bytes;
    EXPECT_LE(seen.size(), 5 + std::max<std::size_t>(piece_bytes, 1));
    EXPECT_EQ(rest_of(in), "hello\nworld\n");
    EXPECT_EQ(in.name(), "pieces");
  }
}

TEST(begun_input, looks_at_all_of_a_short_stream) {
  begun_input in(std::make_unique<pieced_input>("abc", pieced_input::options{2}));
  EXPECT_EQ(in.look([](std::string_view) { return false; }), "abc");
  std::string two(2, ' ');
  EXPECT_EQ(in.read(std::as_writable_bytes(std::span(two))), 2U);
  EXPECT_EQ(two, "ab");
  EXPECT_EQ(rest_of(in), "c");
}

TEST(begun_input, does_not_look_for_ever) {
  begun_input in(
      std::make_unique<pieced_input>(std::string(1'000'000, 'x'), pieced_input::options{1000}));
  EXPECT_LT(in.look([](std::string_view) { return false; }).size(), 70'000U);
  EXPECT_EQ(rest_of(in).size(), 1'000'000U);
}

}  // namespace
}  // namespace user_code
