// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/spare_pages.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include <outsize/base/memory_budget.hpp>

namespace outsize::detail {
namespace {

std::byte* map_pages(std::size_t count) {
  void* const place = ::mmap(nullptr, count * page_bytes(), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(place, MAP_FAILED);
  return static_cast<std::byte*>(place);
}

/// Whether a page is mapped: else the kernel knows nothing of its residence.
bool is_mapped(std::byte* page) {
  unsigned char resident = 0;
  return ::mincore(page, page_bytes(), &resident) == 0;
}

TEST(spare_pages, join_what_lies_side_by_side) {
  std::size_t const page = page_bytes();
  std::byte* const all = map_pages(6);
  spare_pages spare;
  spare.put(all, page);
  spare.put(all + 4 * page, 2 * page);
  EXPECT_EQ(spare.take(3 * page), nullptr);
  spare.put(all + page, 3 * page);
  EXPECT_EQ(spare.bytes(), 6 * page);
  EXPECT_EQ(spare.take(5 * page), all);
  EXPECT_EQ(spare.take(page), all + 5 * page);
  EXPECT_EQ(spare.take(page), nullptr);
  spare.put(all, 6 * page);
  spare.keep_at_most(2 * page);
  EXPECT_TRUE(is_mapped(all + page));
  EXPECT_FALSE(is_mapped(all + 2 * page));
  EXPECT_EQ(spare.bytes(), 2 * page);
  spare.keep_at_most(2 * page - 1);
  EXPECT_FALSE(is_mapped(all + page)) << "pages are given back whole";
  EXPECT_TRUE(is_mapped(all));
  EXPECT_EQ(spare.bytes(), page);
}

TEST(spare_pages, are_whatever_was_put_and_not_taken) {
  std::uint64_t const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::size_t const page = page_bytes();
  constexpr std::size_t count = 200;
  std::byte* const all = map_pages(count);
  {
    spare_pages spare;
    std::map<std::byte*, std::size_t> used{{all, count}};  // to numbers of pages
    std::size_t free = 0;
    for (int step = 0; step < 5000; ++step) {
      if (random() % 2 == 0 && !used.empty()) {
        auto const it =
            std::next(used.begin(), static_cast<std::ptrdiff_t>(random() % used.size()));
        std::size_t const first = 1 + random() % it->second;
        spare.put(it->first, first * page);
        free += first;
        if (first < it->second) used.emplace(it->first + first * page, it->second - first);
        used.erase(it);
      } else if (std::size_t const want = 1 + random() % 20;
                 std::byte* const got = spare.take(want * page)) {
        free -= want;
        auto const after = used.lower_bound(got);
        EXPECT_TRUE(after == used.end() || got + want * page <= after->first);
        EXPECT_TRUE(after == used.begin() ||
                    std::prev(after)->first + std::prev(after)->second * page <= got);
        used.emplace(got, want);
        *got = std::byte{1};  // still mapped
      }
      ASSERT_EQ(spare.bytes(), free * page);
    }
    for (auto const& [place, pages] : used) ::munmap(place, pages * page);
  }
  for (std::size_t i = 0; i < count; ++i) EXPECT_FALSE(is_mapped(all + i * page));
}

}  // namespace
}  // namespace outsize::detail
