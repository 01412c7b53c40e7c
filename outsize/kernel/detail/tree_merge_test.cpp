// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The tree of merges against a stable sort: numbers of sources, pieces, rooms of any length.

#include <outsize/kernel/detail/tree_merge.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <outsize/testing/tagged_item.hpp>

namespace outsize::detail {
namespace {

using tagged = scratch::tagged_item;
using scratch::by_key;

/// Gives room in stretches of random length, as blocks that are partly full do.
class rooms {
 public:
  rooms(std::vector<tagged>& to, std::uint64_t seed) : to_(to), random_(seed) {}

  std::span<tagged> room() {
    EXPECT_LT(filled_, to_.size()) << "asked for room when nothing was left";
    if (room_ == 0) room_ = std::min<std::size_t>(1 + random_() % 3000, to_.size() - filled_);
    return std::span(to_).subspan(filled_, room_);
  }
  void used(std::size_t count) {
    EXPECT_LE(count, room_);
    filled_ += count;
    room_ -= count;
  }
  std::size_t filled() const { return filled_; }

 private:
  std::vector<tagged>& to_;
  std::mt19937_64 random_;
  std::size_t filled_ = 0;
  std::size_t room_ = 0;
};

void expect_merges(std::size_t sources, std::size_t most_items, std::uint32_t distinct,
                   bool disjoint) {
  std::uint64_t const seed = sources * 1000 + most_items + distinct + (disjoint ? 1 : 0);
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::vector<tagged> all;
  std::vector<std::vector<tagged>> content(sources);
  for (auto& items : content) {
    items.resize(random() % (most_items + 1));
    for (auto& item : items) {
      auto const key = static_cast<std::uint32_t>(random() % distinct);
      item = {disjoint ? key / 1000 + static_cast<std::uint32_t>(&items - content.data()) * 10'000
                       : key,
              0};
    }
    std::ranges::stable_sort(items, by_key());
    for (auto& item : items) {
      item.tag = static_cast<std::uint32_t>(all.size());
      all.push_back(item);
    }
  }
  tree_merge<tagged, by_key> merge{{}};
  for (auto const& items : content) {
    std::vector<std::span<tagged const>> pieces;
    for (std::span<tagged const> rest = items; !rest.empty();) {
      pieces.push_back(rest.first(std::min<std::size_t>(1 + random() % 700, rest.size())));
      rest = rest.subspan(pieces.back().size());
    }
    if (!pieces.empty()) merge.add_source(pieces);
  }
  std::vector<tagged> merged(all.size());
  rooms out(merged, seed);
  merge.run(out);
  EXPECT_EQ(out.filled(), all.size());
  std::ranges::stable_sort(all, by_key());
  ASSERT_TRUE(merged == all);
}

TEST(tree_merge, merges_any_number_of_sources_stably) {
  for (std::size_t sources : {0, 1, 2, 3, 4, 5, 7, 16, 33, 100})
    for (std::size_t most_items : {1, 10, 3000})
      for (std::uint32_t distinct : {1U, 5U, 10'000U, 0xFFFFFFFFU})
        expect_merges(sources, most_items, distinct, false);
}

TEST(tree_merge, merges_sources_that_follow_each_other) {
  for (std::size_t sources : {2, 9, 50}) expect_merges(sources, 4000, 5'000'000, true);
}

}  // namespace
}  // namespace outsize::detail
