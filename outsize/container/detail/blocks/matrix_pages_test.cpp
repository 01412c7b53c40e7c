// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Where items are, and how a product divides its result.

#include <outsize/container/detail/blocks/matrix_pages.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

#include <outsize/base/error.hpp>
#include <outsize/testing/counted_storage.hpp>

namespace outsize::detail {
namespace {

struct pages_of_matrices : testing::Test, scratch::counted_storage {
  page_pool pool{store, {.page_bytes = 512, .cache_pages = 16}};  // blocks of 8 · 8 doubles
};

TEST_F(pages_of_matrices, hold_each_item_once) {
  for (std::uint64_t rows : {1U, 7U, 8U, 9U, 40U})
    for (std::uint64_t columns : {1U, 5U, 8U, 33U}) {
      matrix_pages const m(pool, rows, columns, 8);
      EXPECT_LE(m.block_rows(), 8U);
      EXPECT_EQ(m.row().end(), m.blocks_down() * m.blocks_across());
      std::uint64_t items = 0;
      for (std::uint64_t p = 0; p < m.row().end(); ++p) {
        auto const at = m.extent(p);
        EXPECT_EQ(m.page(at.first_row / m.block_rows(), at.first_column / m.block_columns()), p);
        EXPECT_LE(at.columns, at.stride);
        EXPECT_LE(at.rows * at.stride * 8, m.row().page_bytes());
        items += at.rows * at.columns;
      }
      EXPECT_EQ(items, rows * columns);
    }
}

TEST_F(pages_of_matrices, are_none_of_empty_ones_and_short_of_small_ones) {
  EXPECT_EQ(matrix_pages(pool, 0, 5, 8).row().end(), 0U);
  EXPECT_EQ(matrix_pages(pool, 5, 0, 8).row().end(), 0U);
  matrix_pages const narrow(pool, 800, 1, 8);
  EXPECT_EQ(narrow.row().page_bytes(), 64U);
  EXPECT_EQ(narrow.row().end(), 100U);
  EXPECT_EQ(store.allocated_bytes(), 0U);  // until something is written to them
}

TEST_F(pages_of_matrices, refuse_what_cannot_be) {
  EXPECT_THROW(matrix_pages(pool, 1, 1, 513), std::invalid_argument);
  EXPECT_THROW(matrix_pages(pool, std::uint64_t{1} << 40, std::uint64_t{1} << 40, 8),
               std::invalid_argument);
  EXPECT_THROW(matrix_pages(pool, 1'000'000, 1'000'000, 8), budget_error);
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

TEST_F(pages_of_matrices, are_128_in_the_memory_of_a_pool) {
  auto const free_bytes = store.memory().free_bytes();
  auto const all = matrix_pool(store);
  EXPECT_EQ(all.page_bytes(), free_bytes / 8 * 7 / 128);
  EXPECT_EQ(store.memory().free_bytes(), free_bytes);
  matrix_pages const some(all, 100, 100, 8);
  EXPECT_EQ(some.row().free_pages(), 124U);
  EXPECT_EQ(all.cache_pages(), 124U);
  grant const others = store.memory().take(free_bytes / 4 * 3, "others");
  EXPECT_LT(some.row().free_pages(), 32U);
}

TEST_F(pages_of_matrices, have_memory_that_is_named_at_once) {
  auto const free_bytes = store.memory().free_bytes();
  std::uint64_t const named = free_bytes / 2;
  auto const pool_of = matrix_pool(store, named);
  EXPECT_LE(store.memory().free_bytes(), free_bytes - named / 8 * 7);
  EXPECT_THROW(store.memory().take(free_bytes, "others"), budget_error);
}

TEST(product_tile, is_the_largest_square_with_room_for_what_goes_by) {
  for (std::size_t pages = 5; pages < 200; ++pages) {
    auto const tile = tile_of_product(1000, 1000, pages);
    EXPECT_LE(tile.down * tile.across + 2 * (tile.down + tile.across), pages);
    auto const side = std::min(tile.down, tile.across);
    EXPECT_GT((side + 1) * (side + 1) + 4 * (side + 1), pages);
  }
}

TEST(product_tile, is_as_long_as_fits_where_the_result_is_narrow_and_even_in_the_other) {
  auto const narrow = tile_of_product(1000, 1, 62);
  EXPECT_EQ(narrow.across, 1U);
  EXPECT_EQ(narrow.down, 20U);
  auto const even = tile_of_product(10, 10, 96);  // 8 fit
  EXPECT_EQ(even.down, 5U);
  EXPECT_EQ(even.across, 5U);
  auto const small = tile_of_product(2, 3, 1000);
  EXPECT_EQ(small.down, 2U);
  EXPECT_EQ(small.across, 3U);
}

}  // namespace
}  // namespace outsize::detail
