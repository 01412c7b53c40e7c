// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Cuts against the stable merge of all sequences: what lies before them is exactly its first items.

#include <outsize/algorithm/sort/multisequence_selection.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

namespace outsize::detail {
namespace {

struct keys {
  std::vector<int> items;
  int key(std::size_t rank) const { return items[rank]; }
};

TEST(multisequence_selection, cuts_every_rank_of_the_stable_merge) {
  std::uint64_t const seed = 29;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    std::size_t const k = 1 + random() % 6;
    unsigned const distinct = round % 3 == 0 ? 1 : round % 3 == 1 ? 4 : 1000;
    std::vector<keys> sequences(k);
    std::vector<std::size_t> limits(k);
    std::vector<std::tuple<int, std::size_t, std::size_t>> merged;  // key, sequence, rank
    for (std::size_t s = 0; s < k; ++s) {
      sequences[s].items.resize(random() % 30);
      for (int& i : sequences[s].items) i = static_cast<int>(random() % distinct);
      std::ranges::sort(sequences[s].items);
      limits[s] = random() % (sequences[s].items.size() + 1);
      for (std::size_t i = 0; i < limits[s]; ++i) merged.emplace_back(sequences[s].items[i], s, i);
    }
    std::ranges::sort(merged);
    std::vector<std::size_t> want(k, 0);
    for (std::size_t rank = 0;; ++rank) {
      auto const cut =
          multisequence_select(std::span<keys const>(sequences),
                               std::span<std::size_t const>(limits), rank, std::less<>());
      ASSERT_EQ(cut, want) << "rank " << rank;
      if (rank == merged.size()) break;
      ++want[std::get<1>(merged[rank])];
    }
  }
}

TEST(multisequence_selection, ranks_ties_before_or_after) {
  keys const s{{1, 3, 3, 3, 5}};
  std::less<> const less;
  EXPECT_EQ(rank_of(s, 0, 5, 3, false, less), 1U);
  EXPECT_EQ(rank_of(s, 0, 5, 3, true, less), 4U);
  EXPECT_EQ(rank_of(s, 2, 3, 9, true, less), 3U);
  EXPECT_EQ(rank_of(s, 2, 3, 0, false, less), 2U);
}

}  // namespace
}  // namespace outsize::detail
