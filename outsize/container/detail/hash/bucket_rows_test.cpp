// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Pages are shown as they were changed, pinned or copied; damaged ones are refused; pages of the
// overflow come and go, the lowest first.

#include <outsize/container/detail/hash/bucket_rows.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/testing/counted_storage.hpp>

namespace outsize::detail {
namespace {

using enum bucket_row;

struct rows_of_buckets : testing::Test, scratch::counted_storage {
  bucket_items const items{{4, 4}, 8, 8};
  bucket_rows rows{store, items, {.page_bytes = 144, .cache_pages = 8, .spare_pages = 1}, nullptr};

  void put(bucket_row row, std::uint64_t page, std::uint64_t number) {
    EXPECT_TRUE(rows.append(rows.change(row, page), row, std::as_bytes(std::span(&number, 1))));
  }
  static std::uint64_t number_in(bucket_view const& view, std::size_t slot) {
    std::uint64_t number = 0;
    std::memcpy(&number, view.items().data() + slot * sizeof number, sizeof number);
    return number;
  }
};

TEST_F(rows_of_buckets, have_room_behind_headers) {
  EXPECT_EQ(rows.layout(buckets).page_bytes, 144U);
  EXPECT_EQ(rows.layout(buckets).begin_bytes, 80U);
  EXPECT_EQ(rows.layout(buckets).room, 8U);
  EXPECT_EQ(rows.layout(overflow).page_bytes, 36U);
  EXPECT_EQ(rows.layout(overflow).room, 2U);
  EXPECT_GE(rows.live_pages(), 2U);
  EXPECT_EQ(bucket_rows::page_lengths({{100, 1}, 101, 1}, 64, 10),
            (std::vector<std::size_t>{192, 128}));
}

TEST_F(rows_of_buckets, show_pages_whether_they_can_be_pinned_or_not) {
  rows.resize_buckets(50);
  for (std::uint64_t page = 0; page < 50; page += 2)
    for (std::uint64_t slot = 0; slot < 8; ++slot) put(buckets, page, page * 10 + slot);
  std::uint64_t const ninth = 9;
  EXPECT_FALSE(rows.append(rows.change(buckets, 0), buckets, std::as_bytes(std::span(&ninth, 1))));
  std::vector<bucket_view> views;  // more than can be pinned at once
  for (std::uint64_t page = 0; page < 50; ++page) {
    views.push_back(rows.view(buckets, page));
    auto const& view = views.back();
    ASSERT_EQ(view.header().count, page % 2 == 0 ? 8U : 0U);
    ASSERT_EQ(rows.header(buckets, page).count, view.header().count);
    for (std::size_t slot = 0; slot < view.header().count; ++slot) {
      ASSERT_EQ(number_in(view, slot), page * 10 + slot);
      std::uint64_t number = 0;
      rows.read_item({buckets, page, slot}, std::as_writable_bytes(std::span(&number, 1)));
      ASSERT_EQ(number, page * 10 + slot);
    }
  }
}

TEST_F(rows_of_buckets, say_where_to_go_on) {
  rows.resize_buckets(1);
  EXPECT_FALSE(rows.view(buckets, 0).next(1));
  auto const page = rows.take_overflow_page();
  put(overflow, page, 1);
  auto const bucket = rows.change(buckets, 0);
  bucket_rows::header_of(bucket).next = page + 1;
  bucket_rows::filter_of(bucket).add(1);
  EXPECT_EQ(rows.view(buckets, 0).next(1), (bucket_place{overflow, page, 0}));
  EXPECT_FALSE(rows.view(overflow, page).next(1));
  int led_astray = 0;
  for (std::uint64_t hash = 2; hash < 2000; ++hash)
    led_astray += rows.view(buckets, 0).next(hash * hash) ? 1 : 0;
  EXPECT_LT(led_astray, 50);
}

TEST_F(rows_of_buckets, take_the_lowest_page_of_the_overflow_and_cut_off_the_last) {
  std::vector<std::uint64_t> pages;
  for (int i = 0; i < 10; ++i) pages.push_back(rows.take_overflow_page());
  EXPECT_EQ(pages.back(), 9U);
  rows.give_overflow_pages(std::array<std::uint64_t, 3>{7, 3, 5});
  EXPECT_EQ(rows.page_count(overflow), 10U);
  EXPECT_EQ(rows.take_overflow_page(), 3U);
  rows.give_overflow_pages(std::array<std::uint64_t, 2>{9, 8});
  EXPECT_EQ(rows.page_count(overflow), 7U);
  EXPECT_EQ(rows.take_overflow_page(), 5U);
  EXPECT_EQ(rows.take_overflow_page(), 7U);
  rows.clear();
  EXPECT_EQ(rows.take_overflow_page(), 0U);
}

TEST_F(rows_of_buckets, refuse_pages_that_no_table_writes) {
  rows.resize_buckets(2);
  bucket_rows::header_of(rows.change(buckets, 0)).count = 9;
  bucket_rows::header_of(rows.change(buckets, 1)).next = 1;
  for (std::uint64_t page : {0U, 1U}) {
    EXPECT_THROW(rows.view(buckets, page), format_error);
    EXPECT_THROW(rows.header(buckets, page), format_error);
    EXPECT_THROW(rows.pin(buckets, page), format_error);
  }
  rows.take_overflow_page();
  EXPECT_THROW(rows.change(buckets, 0), format_error);
  EXPECT_NO_THROW(rows.change(buckets, 1));
}

}  // namespace
}  // namespace outsize::detail
