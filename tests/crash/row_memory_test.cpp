// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A row of pages that grows when there is no memory: whichever allocation fails, it has the pages
// that it had, and those that nothing was written to are told from others.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/page/detail/disk_pages.hpp>
#include <outsize/page/detail/page_row.hpp>

#include "scarce_memory.hpp"

namespace outsize::detail {
namespace {

constexpr std::uint64_t first = 5000;
constexpr std::size_t page_bytes = 64;

std::shared_ptr<page_row> make_row(storage& store) {
  page_cache_options const options{.page_bytes = page_bytes, .cache_pages = 4, .spare_pages = 1};
  auto space = std::make_unique<disk_pages>(store, page_bytes, store.new_placement(), first);
  auto& device = space->device();
  auto cache = std::make_shared<page_cache>(
      device, store.memory().take(page_cache::memory_bytes(device, options), "pages"), options,
      block::make_lru_replacement());
  return std::make_shared<page_row>(store, std::move(space), std::move(cache), page_bytes);
}

/// Number 0 is of a page that nothing is written to.
std::uint64_t number_of(std::uint64_t page) { return page % 3 == 0 ? 0 : page; }

TEST(rows_without_memory, grow_at_both_ends_or_stay_as_they_are) {
  storage store({.disks = {disk_options("none",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("none");
                                        })},
                 .memory_bytes = 16_MiB,
                 .threads = 1});
  auto const row = make_row(store);
  int refusals = 0;
  auto const reach = [&](std::uint64_t begin, std::uint64_t end) {
    auto const grow = [&] { row->reach(begin, end); };
    for (std::uint64_t some = 0; !crash::done_with_allocations(some, grow); ++some) ++refusals;
  };
  auto const write = [&](std::uint64_t page) {
    std::uint64_t const number = number_of(page);
    if (number != 0) std::memcpy(row->change(page).data(), &number, sizeof number);
  };
  for (std::uint64_t i = 0; i < 4000; ++i) {
    reach(first - i - 1, first + i + 1);
    write(first - i - 1);
    write(first + i);
  }
  EXPECT_GT(refusals, 10);
  for (std::uint64_t page = row->begin(); page < row->end(); ++page) {
    std::uint64_t found = 0;
    row->read(page, 0, std::as_writable_bytes(std::span(&found, 1)));
    ASSERT_EQ(found, number_of(page)) << page;
  }
}

}  // namespace
}  // namespace outsize::detail
