// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The tournament tree against std::stable_sort of all items, in the order of their sequences.

#include <outsize/kernel/detail/loser_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace outsize::detail {
namespace {

using item = std::pair<int, std::size_t>;  // key, sequence

struct key_less {
  bool operator()(item const& a, item const& b) const { return a.first < b.first; }
};

/// Lets the tree look at a part of the key first.
struct key_less_by_word : key_less {
  static std::uint64_t leading(item const& i) { return static_cast<std::uint64_t>(i.first) / 3; }
};
static_assert(has_leading_word<key_less_by_word, item> && !has_leading_word<key_less, item>);

struct cursor {
  std::vector<item> const* items;
  std::size_t at = 0;

  item get() const { return (*items)[at]; }
  bool next() { return ++at < items->size(); }
};

template <typename Less>
std::vector<item> merge(std::vector<std::vector<item>> const& sequences) {
  std::vector<cursor> cursors;
  for (auto const& s : sequences)
    if (!s.empty()) cursors.push_back({&s});
  Less const less;
  loser_tree tree(std::move(cursors), less);
  std::vector<item> out;
  for (; !tree.empty(); tree.pop()) out.push_back(tree.top());
  return out;
}

TEST(loser_tree, is_empty_without_sequences) {
  EXPECT_TRUE(merge<key_less>({}).empty());
  EXPECT_TRUE(merge<key_less_by_word>({}).empty());
}

TEST(loser_tree, merges_stably_for_any_number_of_sequences) {
  std::mt19937_64 random(5);
  for (std::size_t k : {1, 2, 3, 4, 5, 7, 8, 9, 31, 100})
    for (int distinct : {1, 4, 100000}) {
      std::vector<std::vector<item>> sequences(k);
      std::vector<item> want;
      for (std::size_t s = 0; s < k; ++s) {
        sequences[s].resize(random() % 50);
        for (auto& i : sequences[s])
          i = {static_cast<int>(random() % static_cast<unsigned>(distinct)), s};
        std::ranges::stable_sort(sequences[s], key_less{});
        want.insert(want.end(), sequences[s].begin(), sequences[s].end());
      }
      std::ranges::stable_sort(want, key_less{});
      EXPECT_EQ(merge<key_less>(sequences), want) << k << " sequences, " << distinct << " keys";
      EXPECT_EQ(merge<key_less_by_word>(sequences), want)
          << k << " sequences, " << distinct << " keys";
    }
}

}  // namespace
}  // namespace outsize::detail
