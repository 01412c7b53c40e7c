// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/codec/detail/packed_block.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace outsize::detail {
namespace {

std::string_view record_at(std::span<std::byte const> block, std::size_t i) {
  packed_table const table(block);
  return {reinterpret_cast<char const*>(block.data()) + table.begin(i), table.length(i)};
}

TEST(packed_block, takes_records_until_it_is_full) {
  std::vector<std::byte> place(64);
  packed_block block(place);
  std::vector<std::string> const texts(10, "12345");
  std::size_t count = 0;
  while (block.append(texts[count])) ++count;
  EXPECT_EQ(count, (64 - 4) / 13U);
  EXPECT_EQ(block.items(), count);
  EXPECT_EQ(block.record_bytes(), 5 * count);
  EXPECT_EQ(block.used_bytes(), packed_bytes(5 * count, count));
  EXPECT_FALSE(block.fits(5));
  EXPECT_TRUE(block.fits(0));
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(record_at(place, i), "12345");
    EXPECT_EQ(packed_table(place).bytes_before(i), 5 * i);
  }
}

TEST(packed_block, keeps_what_comes_from_the_same_place_once) {
  std::vector<std::byte> place(128);
  packed_block block(place);
  std::string const text = "a record of 22 letters", other = text;
  for (std::string_view const r :
       {std::string_view(text), std::string_view(text), std::string_view(other),
        std::string_view(other).substr(0, 1), std::string_view(other)})
    ASSERT_TRUE(block.append(r));
  EXPECT_EQ(block.record_bytes(), 4 * text.size() + 1);
  EXPECT_EQ(block.used_bytes(), packed_bytes(3 * text.size() + 1, 5));
  for (std::size_t const i : {0, 1, 2, 4}) EXPECT_EQ(record_at(place, i), text);
  EXPECT_EQ(record_at(place, 3), "a");
  packed_table const table(place);
  EXPECT_TRUE(table.is_repeated(1));
  for (std::size_t const i : {2, 3, 4}) EXPECT_FALSE(table.is_repeated(i));
  EXPECT_EQ(table.bytes_before(2), 2 * text.size());
  EXPECT_TRUE(can_be_packed(place, 5, text.size()));
  EXPECT_FALSE(can_be_packed(place, 5, text.size() - 1));
}

TEST(packed_block, becomes_as_short_as_it_is_said) {
  std::vector<std::byte> place(256, std::byte{0xFF});
  packed_block block(place);
  for (std::string const text : {"a", "", "bcd"}) ASSERT_TRUE(block.append(text));
  EXPECT_EQ(block.used_bytes(), packed_bytes(4, 3));
  auto const content = block.shrink(64);
  ASSERT_EQ(content.size(), 64U);
  EXPECT_EQ(std::memcmp(content.data(), "abcd\0\0\0\0", 8), 0);
  for (std::size_t i = 0; auto const* text : {"a", "", "bcd"})
    EXPECT_EQ(record_at(content, i++), text);
}

TEST(packed_block, is_not_believed_to_lie_where_it_does_not) {
  auto const with_ends = [](std::vector<record_end> const& ends) {
    std::vector<std::byte> block(64);
    for (std::size_t i = 0; i < ends.size(); ++i)
      std::memcpy(block.data() + block.size() - (i + 1) * sizeof(record_end), &ends[i],
                  sizeof(record_end));
    return can_be_packed(block, ends.size(), 40);
  };
  EXPECT_TRUE(with_ends({{3, 3}, {3, 6}, {10, 13}}));
  EXPECT_FALSE(with_ends({{3, 4}})) << "begins in front of the block";
  EXPECT_FALSE(with_ends({{3, 3}, {2, 6}})) << "goes back";
  EXPECT_FALSE(with_ends({{3, 3}, {3, 2}})) << "total goes back";
  EXPECT_FALSE(with_ends({{60, 3}})) << "ends in the table";
  EXPECT_FALSE(with_ends({{50, 41}})) << "is too long";
}

TEST(packed_block, has_room_to_align_its_table) {
  EXPECT_EQ(packed_bytes(0, 0), 4U);
  EXPECT_EQ(packed_bytes(10, 2), 30U);
}

}  // namespace
}  // namespace outsize::detail
