// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Cuts against the stable merge of all sequences: what lies before them is exactly its first items.

#include <outsize/kernel/detail/multisequence_selection.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace outsize::detail {
namespace {

struct keys {
  std::vector<int> items;
  int key(std::size_t rank) const { return items[rank]; }
};

using place = std::tuple<int, std::size_t, std::size_t>;  // key, sequence, rank

/// How many of the first `count` of the merge are of each of `k` sequences.
std::vector<std::size_t> first_of(std::vector<place> const& merged, std::size_t count,
                                  std::size_t k) {
  std::vector<std::size_t> cut(k, 0);
  for (std::size_t i = 0; i < count; ++i) ++cut[std::get<1>(merged[i])];
  return cut;
}

/// Items of random walks, which differ in where they lie and how far they go.
std::vector<keys> walks(std::mt19937_64& random, std::size_t k, std::size_t length) {
  std::vector<keys> sequences(k);
  for (keys& each : sequences) {
    int at = static_cast<int>(random() % 1'000'000);
    auto const step = 1 + random() % 1000;
    for (std::size_t i = 0; i < length; ++i) {
      at += static_cast<int>(random() % step);
      each.items.push_back(at);
    }
  }
  return sequences;
}

/// Compares, and counts how often.
struct counting_less {
  std::size_t* count;
  bool operator()(int a, int b) const {
    ++*count;
    return a < b;
  }
};

TEST(multisequence_selection, compares_little_whether_sequences_are_alike_or_not) {
  std::mt19937_64 random(5);
  constexpr std::size_t k = 16, length = 1 << 14;
  std::vector<keys> alike(k);
  for (keys& each : alike) {
    each.items.resize(length);
    for (int& i : each.items) i = static_cast<int>(random() >> 33U);
    std::ranges::sort(each.items);
  }
  std::vector<keys> equal(k);
  for (keys& each : equal) each.items.assign(length, 7);
  std::vector<std::size_t> const limits(k, length);
  std::size_t const rank = k * length / 3;
  auto const comparisons = [&](std::vector<keys> const& sequences, std::size_t slack) {
    std::size_t count = 0;
    multisequence_select(std::span<keys const>(sequences), std::span<std::size_t const>(limits),
                         rank, counting_less{&count}, slack);
    return count;
  };
  // A search of all sequences takes k * 15 comparisons at most.
  std::size_t const search = k * 15;
  EXPECT_LE(comparisons(alike, rank / 32), 3 * search);
  EXPECT_LE(comparisons(alike, 0), 15 * search);
  EXPECT_LE(comparisons(walks(random, k, length), 0), 45 * search);
  EXPECT_LE(comparisons(equal, 0), 45 * search);
}

TEST(multisequence_selection, cuts_every_rank_of_the_stable_merge) {
  std::uint64_t const seed = 29;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    std::size_t const k = 1 + random() % 6;
    unsigned const distinct = round % 3 == 0 ? 1 : round % 3 == 1 ? 4 : 1000;
    std::vector<keys> sequences(k);
    std::vector<std::size_t> limits(k);
    std::vector<place> merged;
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
      std::size_t const slack = random() % (rank + 1);
      auto const near =
          multisequence_select(std::span<keys const>(sequences),
                               std::span<std::size_t const>(limits), rank, std::less<>(), slack);
      std::size_t const before = std::reduce(near.begin(), near.end());
      EXPECT_LE(before, rank);
      EXPECT_GE(before, rank - slack);
      EXPECT_EQ(near, first_of(merged, before, k)) << "rank " << rank << ", slack " << slack;
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
