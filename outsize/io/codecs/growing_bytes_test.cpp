// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/codecs/growing_bytes.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace outsize::io::detail {
namespace {

TEST(growing_bytes, keeps_what_was_written_and_always_has_room) {
  growing_bytes bytes;
  EXPECT_TRUE(bytes.bytes().empty());
  for (std::size_t i = 0; i < 3; ++i) {
    auto const room = bytes.room();
    ASSERT_FALSE(room.empty());
    std::ranges::fill(room, static_cast<std::byte>(i));
    bytes.used(room.size());
  }
  EXPECT_EQ(bytes.bytes().front(), std::byte{0});
  EXPECT_EQ(bytes.bytes().back(), std::byte{2});
  bytes.clear();
  EXPECT_TRUE(bytes.bytes().empty());
  EXPECT_FALSE(bytes.room().empty());
}

}  // namespace
}  // namespace outsize::io::detail
