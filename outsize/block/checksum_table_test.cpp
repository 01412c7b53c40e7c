// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Pieces against a list of what was set at each byte; memory that is charged and given back.

#include <outsize/block/checksum_table.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

namespace outsize::block {
namespace {

using pieces = std::vector<checked_piece>;

TEST(checksum_table, knows_what_was_set_last) {
  memory_budget budget(1_MiB);
  checksum_table table(budget, 1000);
  EXPECT_TRUE(table.within(0, UINT64_MAX / 2).empty());
  table.set(pieces{{0, 100, 1}, {100, 100, 2}});
  EXPECT_EQ(table.within(0, 200), (pieces{{0, 100, 1}, {100, 100, 2}}));
  EXPECT_EQ(table.within(0, 199), (pieces{{0, 100, 1}}));
  EXPECT_EQ(table.within(1, 199), (pieces{{100, 100, 2}}));
  EXPECT_TRUE(table.within(100, 99).empty());
  table.set(pieces{{50, 100, 3}});  // touches both
  EXPECT_EQ(table.within(0, 200), (pieces{{50, 100, 3}}));
  table.forget(149, 1);
  EXPECT_EQ(table.size(), 0U);
}

TEST(checksum_table, takes_memory_for_each_piece_and_says_when_there_is_none) {
  memory_budget budget(64_KiB + 10 * checksum_table::piece_bytes);
  checksum_table table(budget, 10 * checksum_table::piece_bytes);
  EXPECT_EQ(budget.free_bytes(), 64_KiB);
  std::uint64_t offset = 0;
  for (; offset < 10; ++offset) table.set(pieces{{offset, 1, 0}});
  EXPECT_EQ(budget.free_bytes(), 64_KiB);
  table.set(pieces{{offset++, 1, 0}});
  EXPECT_EQ(budget.free_bytes(), 0U);
  std::uint64_t const most = (64_KiB + 800) / checksum_table::piece_bytes;
  for (; offset < most; ++offset) table.set(pieces{{offset, 1, 0}});
  EXPECT_THROW(table.set(pieces{{offset, 1, 0}}), budget_error);
  EXPECT_EQ(table.size(), most);
  table.set(pieces{{3, 1, 7}});  // in the place of another
  EXPECT_EQ(table.within(3, 1), (pieces{{3, 1, 7}}));
  table.forget(0, 5);
  table.set(pieces{{offset, 1, 0}});
  EXPECT_EQ(table.size(), most - 4);
  table.forget(0, most + 1);
  EXPECT_EQ(budget.free_bytes(), 64_KiB);
}

TEST(checksum_table, agrees_with_a_list_of_bytes) {
  constexpr std::size_t size = 200;
  std::uint64_t const seed = 13;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  memory_budget budget(1_MiB);
  checksum_table table(budget, 0);
  std::array<std::uint64_t, size> piece_of{};  // of each byte; 0: none
  std::vector<checked_piece> set{{}};
  auto const forget = [&](std::uint64_t offset, std::uint64_t length) {
    for (std::uint64_t at = offset; at < offset + length; ++at)
      if (auto const gone = piece_of[at]; gone != 0)
        std::ranges::replace(piece_of, gone, std::uint64_t{0});
  };
  for (int step = 0; step < 20'000; ++step) {
    std::uint64_t const offset = random() % size;
    std::uint64_t const length = 1 + random() % std::min<std::uint64_t>(size - offset, 30);
    switch (random() % 3) {
      case 0:
        forget(offset, length);
        std::fill_n(piece_of.begin() + offset, length, set.size());
        set.push_back({offset, length, random()});
        table.set(std::span(set).last(1));
        break;
      case 1:
        forget(offset, length);
        table.forget(offset, length);
        break;
      default:
        pieces want;
        for (std::uint64_t at = offset; at < offset + length; ++at) {
          auto const& piece = set[piece_of[at]];
          bool const begins = piece_of[at] != 0 && piece.offset_bytes == at;
          if (begins && at + piece.length_bytes <= offset + length) want.push_back(piece);
        }
        ASSERT_EQ(table.within(offset, length), want) << "step " << step;
    }
  }
}

}  // namespace
}  // namespace outsize::block
