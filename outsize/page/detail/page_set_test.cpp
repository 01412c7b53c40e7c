// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Pages that come and go in any order: the lowest free one is taken, no row ends with a free one,
// and what replaces them is given up unless it is kept.

#include <outsize/page/detail/page_set.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <random>
#include <set>
#include <utility>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/page/detail/disk_pages.hpp>

namespace outsize::detail {
namespace {

struct page_sets : testing::Test {
  static constexpr std::size_t page_bytes = 64;
  storage store{{.disks = {disk_options("none",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("none");
                                        })},
                 .memory_bytes = 1_MiB,
                 .threads = 1}};
  page_set pages{make_row()};

  std::shared_ptr<page_row> make_row() {
    page_cache_options const options{.page_bytes = page_bytes, .cache_pages = 4, .spare_pages = 1};
    auto space = std::make_unique<disk_pages>(store, page_bytes, store.new_placement());
    auto& device = space->device();
    auto cache = std::make_shared<page_cache>(
        device, store.memory().take(page_cache::memory_bytes(device, options), "pages"), options,
        block::make_lru_replacement());
    return std::make_shared<page_row>(store, std::move(space), std::move(cache), page_bytes);
  }
};

TEST_F(page_sets, have_the_lowest_free_page_taken_and_end_with_one_that_is_used) {
  std::mt19937_64 random(1);
  std::set<std::uint64_t> used;
  for (int i = 0; i < 2000; ++i) {
    if (used.size() < 10 || random() % 2 == 0) {
      std::uint64_t lowest = 0;
      while (used.contains(lowest)) ++lowest;
      ASSERT_EQ(pages.take(), lowest);
      used.insert(lowest);
    } else {
      std::array<std::uint64_t, 2> gone{};
      for (auto& page : gone) {
        page = *std::next(used.begin(), static_cast<std::ptrdiff_t>(random() % used.size()));
        used.erase(page);
      }
      pages.give(gone);
    }
    ASSERT_EQ(pages.used(), used.size());
    ASSERT_EQ(pages.row().end(), *used.rbegin() + 1);
  }
  pages.clear();
  EXPECT_EQ(pages.take(), 0U);
}

TEST_F(page_sets, are_as_they_were_unless_what_replaces_them_is_kept) {
  for (int i = 0; i < 5; ++i) pages.take();
  pages.give(2);
  {
    page_set::renewal renewed(pages);
    EXPECT_EQ(pages.used(), 0U);
    EXPECT_EQ(pages.take(), 0U);
  }
  EXPECT_EQ(pages.used(), 4U);
  EXPECT_EQ(pages.take(), 2U);
  {
    page_set::renewal renewed(pages);
    pages.take();
    renewed.keep();
  }
  EXPECT_EQ(pages.used(), 1U);
  EXPECT_EQ(pages.take(), 1U);
}

}  // namespace
}  // namespace outsize::detail
