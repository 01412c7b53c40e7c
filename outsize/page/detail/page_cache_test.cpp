// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Rows that share a cache: which pages live, who is told that another row is at work.

#include <outsize/page/detail/page_cache.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include <outsize/page/detail/disk_pages.hpp>
#include <outsize/page/detail/page_row.hpp>
#include <outsize/page/detail/page_space.hpp>
#include <outsize/testing/counted_storage.hpp>

namespace outsize::detail {
namespace {

constexpr std::size_t page = 64;

struct caches_of_pages : testing::Test, scratch::counted_storage {
  page_cache_options const options{.page_bytes = page, .cache_pages = 9, .spare_pages = 1};
  std::shared_ptr<page_cache> cache = std::make_shared<page_cache>(
      store, store.memory().take(page_cache::memory_bytes(store, options), "cache"), options,
      block::make_lru_replacement());

  std::shared_ptr<page_row> make_row(std::uint64_t pages, std::size_t page_bytes = page) {
    auto row = std::make_shared<page_row>(
        store, std::make_unique<disk_pages>(store, page_bytes, store.new_placement()), cache,
        page_bytes);
    row->reach(0, pages);
    return row;
  }
};

TEST_F(caches_of_pages, keep_what_several_rows_put_in) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::vector<std::shared_ptr<page_row>> rows;
  std::vector<std::vector<int>> model(5, std::vector<int>(20));
  for (std::size_t r = 0; r < 5; ++r) rows.push_back(make_row(20, page - 8 * r));
  for (int i = 0; i < 20'000; ++i) {
    auto const r = random() % 5;
    auto const number = random() % 20;
    if (random() % 2 == 0) {
      model[r][number] = static_cast<int>(random() % 256);
      std::ranges::fill(rows[r]->change(number), static_cast<std::byte>(model[r][number]));
    } else {
      std::byte last{};
      rows[r]->read(number, rows[r]->page_bytes() - 1, {&last, 1});
      ASSERT_EQ(std::to_integer<int>(last), model[r][number]);
    }
  }
}

TEST_F(caches_of_pages, let_as_many_pages_live_as_they_say_whosever_they_are) {
  auto const a = make_row(4), b = make_row(4);
  ASSERT_EQ(cache->live_pages(), 3U);
  a->change(0);
  b->change(0);
  a->change(1);
  EXPECT_TRUE(cache->is_live(*a, 0));
  EXPECT_TRUE(cache->is_live(*b, 0));
  a->change(0);
  b->change(2);
  EXPECT_TRUE(cache->is_live(*a, 0));
  EXPECT_TRUE(cache->is_live(*a, 1));
  EXPECT_FALSE(cache->is_live(*b, 0));
  cache->end_lives();
  EXPECT_EQ(cache->blocks().pinned_count(), 0U);
  a->change(0);
  a->reach(0, 0);
  EXPECT_EQ(cache->blocks().pinned_count(), 0U);
}

TEST_F(caches_of_pages, tell_a_row_when_another_is_at_work) {
  auto const a = make_row(4);
  int told = 0;
  a->call_at_rest([&] { ++told; });
  a->change(0);
  a->change(1);
  {
    auto const b = make_row(4);
    EXPECT_EQ(told, 0);
    b->change(0);
    EXPECT_EQ(told, 1);
    b->change(1);
    EXPECT_EQ(told, 1);
    a->change(0);
    b->change(1);
    EXPECT_EQ(told, 2);
  }
  a->change(0);  // what was told of b is forgotten
  EXPECT_EQ(told, 2);
  cache->end_lives();
  EXPECT_EQ(told, 3);
}

}  // namespace
}  // namespace outsize::detail
