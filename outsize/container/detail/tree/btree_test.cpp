// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The shape of a B+-tree: all invariants hold after any operations, and pages are filled. What maps
// do with it: map_test.cpp.

#include <outsize/container/detail/tree/btree.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include <outsize/container/detail/tree/btree_builder.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/small_trees.hpp>

namespace outsize::detail {
namespace {

using scratch::tree;

struct trees : testing::Test, scratch::small_trees {};

TEST_F(trees, are_well_formed_after_any_operations) {
  for (bool const is_unique : {true, false})
    for (std::uint64_t seed = 1; seed <= scratch::operations(5U); ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      std::mt19937_64 random(seed);
      tree t = make(is_unique);
      std::uint64_t const keys = is_unique ? 5000 : 50;
      std::uint64_t most = 0;
      for (int i = 0; i < 20'000; ++i) {
        // It grows for a while, then it shrinks.
        std::uint64_t const key = random() % keys;
        if (random() % 10 < (i / 5000 % 2 == 0 ? 8 : 2)) {
          t.insert(key);
        } else if (auto const at = t.lower_bound(key); !at.is_end()) {
          t.erase(at, 1);
        }
        most = std::max(most, t.size());
        if (i % 500 == 0) {
          ASSERT_TRUE(t.is_well_formed());
        }
      }
      EXPECT_GT(most, 1000U);
      while (t.size() > 0) t.erase(t.begin(), 1);
      EXPECT_TRUE(t.is_well_formed());
      EXPECT_EQ(t.pages().leaves().used() + t.pages().nodes().used(), 0U);
      EXPECT_EQ(store.allocated_bytes(), 0U);
    }
}

TEST_F(trees, stay_filled) {
  std::mt19937_64 random(1);
  tree t = make(true);
  for (int i = 0; i < 5000; ++i) t.insert(random());
  std::uint64_t const capacity = t.leaf_capacity();
  EXPECT_GE(t.size(), t.pages().leaves().used() * capacity / 2) << "half after splits";
  for (int i = 0; i < 4000; ++i) t.erase(t.lower_bound(random() / 2), 1);
  EXPECT_GE(t.size(), t.pages().leaves().used() * (capacity / 4)) << "a quarter after merges";
  EXPECT_TRUE(t.is_well_formed());

  tree rising = make(true);
  for (std::uint64_t i = 0; i < 1000; ++i) rising.insert(tree::position{}, i);
  EXPECT_EQ(rising.pages().leaves().used(), 1000 / capacity + 1) << "full if they come in order";
  EXPECT_TRUE(rising.is_well_formed());
}

TEST_F(trees, that_are_built_are_well_formed) {
  for (std::uint64_t count : {0U, 1U, 13U, 14U, 169U, 170U, 5000U})
    for (double const fill : {0.25, 0.7, 1.0}) {
      tree t = make(true);
      btree_builder builder(t, fill);
      std::vector<std::uint64_t> entries(count);
      std::iota(entries.begin(), entries.end(), 0U);
      if (count > 0) entries.push_back(count - 1);  // which is left out
      EXPECT_EQ(builder.push(entries), entries.size());
      if (count > 1) {
        std::vector<std::uint64_t> const late{count - 1, count - 2};
        EXPECT_EQ(builder.push(late), 1U);
      }
      builder.finish();
      EXPECT_EQ(t.size(), count);
      EXPECT_TRUE(t.is_well_formed());
    }
}

TEST_F(trees, whose_construction_ends_early_are_as_before) {
  tree t = make(true);
  for (std::uint64_t const before : {0U, 1U, 500U}) {
    while (t.size() < before) t.insert(3 * t.size());
    auto const first = t.begin();
    auto const bytes = store.allocated_bytes();
    {
      btree_builder builder(t, 1);
      std::vector<std::uint64_t> entries(1000);
      std::iota(entries.begin(), entries.end(), 0U);
      EXPECT_EQ(builder.push(entries), entries.size());
    }
    EXPECT_EQ(t.size(), before);
    EXPECT_TRUE(t.is_well_formed());
    EXPECT_EQ(t.begin(), first);
    EXPECT_EQ(store.allocated_bytes(), bytes);
  }
}

}  // namespace
}  // namespace outsize::detail
