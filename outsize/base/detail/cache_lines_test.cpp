// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/cache_lines.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace {

constexpr std::byte old{0xA5};

TEST(CacheLines, ZerosAreWhereTheyWereAskedForAndNowhereElse) {
  std::vector<std::byte> all(400);
  for (std::size_t begin = 0; begin < 80; ++begin) {
    for (std::size_t length = 0; begin + length <= 300; ++length) {
      std::ranges::fill(all, old);
      outsize::detail::zero_past_caches(std::span(all).subspan(begin, length));
      for (std::size_t i = 0; i < all.size(); ++i) {
        bool const within = i >= begin && i < begin + length;
        ASSERT_EQ(all[i], within ? std::byte{0} : old) << begin << " + " << length << " at " << i;
      }
    }
  }
}

TEST(CacheLines, NothingAtAllIsAllowed) { outsize::detail::zero_past_caches({}); }

}  // namespace
