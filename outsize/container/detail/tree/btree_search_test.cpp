// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// What is found in a B+-tree against std::multiset, and the ways along its leaves against their
// links. What damaged files hold is not found: kept_damage_test.cpp.

#include <outsize/container/detail/tree/btree_search.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include <outsize/testing/small_trees.hpp>

namespace outsize::detail {
namespace {

using scratch::tree;

struct tree_searches : testing::Test, scratch::small_trees {
  std::mt19937_64 random{7};

  /// Adds random entries, many of them equal if they may be; returns what is there then.
  std::multiset<std::uint64_t> fill(tree& t, std::uint64_t entries) {
    std::multiset<std::uint64_t> model;
    for (std::uint64_t i = 0; i < entries; ++i) {
      std::uint64_t const key = random() % (t.is_unique() ? 3 * entries : entries / 20 + 1);
      if (t.insert(key).second) model.insert(key);
    }
    return model;
  }
};

std::vector<std::uint64_t> leaves_of(tree const& t) {
  std::vector<std::uint64_t> leaves;
  for (std::uint64_t page = t.first_leaf(); page != tree_state::none; page = t.look(page)->after)
    leaves.push_back(page);
  return leaves;
}

TEST_F(tree_searches, find_what_a_standard_set_finds) {
  for (bool const is_unique : {true, false})
    for (std::uint64_t const entries : {0, 1, 13, 14, 200, 3000}) {
      tree t = make(is_unique);
      auto const model = fill(t, entries);
      ASSERT_TRUE(t.is_well_formed());
      auto const expect_at = [&](tree::position const& at, auto const& want) {
        ASSERT_EQ(at.is_end(), want == model.end());
        if (want != model.end()) {
          ASSERT_EQ(t.entry(at), *want);
        }
      };
      for (std::uint64_t key = 0; key <= (model.empty() ? 0 : *model.rbegin()) + 1; ++key) {
        expect_at(t.lower_bound(key), model.lower_bound(key));
        expect_at(t.upper_bound(key), model.upper_bound(key));
        expect_at(t.find(key), model.find(key));
        if (model.contains(key)) {
          EXPECT_EQ(t.find(key), t.lower_bound(key));
        }
      }
      auto want = model.begin();
      for (auto at = t.begin(); !at.is_end(); at = t.after(at)) ASSERT_EQ(t.entry(at), *want++);
      EXPECT_EQ(want, model.end());
    }
}

TEST_F(tree_searches, find_the_leaf_that_a_key_belongs_to) {
  tree t = make(true);
  auto const model = fill(t, 3000);
  for (std::uint64_t const key : model) {
    tree::leaf_way way;
    auto const found = t.find_leaf(key, way);
    EXPECT_TRUE(t.visit_in(*t.look(found.page), key, [&](auto const& at) { EXPECT_EQ(at, key); }));
    if (found.has_end) {
      EXPECT_LT(key, found.end);
      EXPECT_FALSE(t.visit_in(*t.look(found.page), found.end, [](auto const&) {}));
    } else {
      EXPECT_EQ(found.page, t.last_leaf());
    }
  }
}

TEST_F(tree_searches, go_along_all_leaves_in_either_direction) {
  for (bool const is_unique : {true, false}) {
    tree t = make(is_unique);
    fill(t, 3000);
    auto const leaves = leaves_of(t);
    ASSERT_GT(leaves.size(), 169U) << "more than one node has below it";
    for (std::size_t const step : {1, 5, 1000}) {
      auto way = t.way_to(leaves.front(), t.look(leaves.front())->key(0));
      std::vector<std::uint64_t> gone{leaves.front()};
      for (std::size_t before = 0; before < gone.size();) {
        before = gone.size();
        t.go_on(way, false, step, gone);
        ASSERT_LE(gone.size(), before + step);
      }
      EXPECT_EQ(gone, leaves);

      auto back = t.way_to_end();
      gone = {leaves.back()};
      for (std::size_t before = 0; before < gone.size();) {
        before = gone.size();
        t.go_on(back, true, step, gone);
      }
      std::ranges::reverse(gone);
      EXPECT_EQ(gone, leaves);
    }
  }
}

}  // namespace
}  // namespace outsize::detail
