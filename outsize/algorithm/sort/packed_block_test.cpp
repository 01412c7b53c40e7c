// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/sort/packed_block.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace outsize::detail {
namespace {

TEST(packed_block, takes_records_until_it_is_full) {
  std::vector<std::byte> place(64);
  packed_block block(place);
  std::size_t count = 0;
  for (; block.fits(5); ++count) {
    std::memcpy(block.next_record(), "12345", 5);
    block.close_record(5);
  }
  EXPECT_EQ(count, (64 - 4) / 9U);
  EXPECT_EQ(block.items(), count);
  EXPECT_EQ(block.record_bytes(), 5 * count);
  EXPECT_LE(block.used_bytes(), 64U);
  EXPECT_TRUE(block.fits(0));
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(packed_end(std::span(place), i), 5 * (i + 1));
}

TEST(packed_block, becomes_as_short_as_it_is_said) {
  std::vector<std::byte> place(256, std::byte{0xFF});
  packed_block block(place);
  for (std::string const text : {"a", "", "bcd"}) {
    std::memcpy(block.next_record(), text.data(), text.size());
    block.close_record(text.size());
  }
  EXPECT_EQ(block.used_bytes(), packed_bytes(4, 3));
  auto const content = block.shrink(32);
  ASSERT_EQ(content.size(), 32U);
  EXPECT_EQ(std::memcmp(content.data(), "abcd\0\0\0\0", 8), 0);
  EXPECT_EQ(packed_end(content, 0), 1U);
  EXPECT_EQ(packed_end(content, 1), 1U);
  EXPECT_EQ(packed_end(content, 2), 4U);
}

TEST(packed_block, has_room_to_align_its_table) {
  EXPECT_EQ(packed_bytes(0, 0), 4U);
  EXPECT_EQ(packed_bytes(10, 2), 22U);
}

}  // namespace
}  // namespace outsize::detail
