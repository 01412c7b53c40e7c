// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Cursors move when their entries do, and only then. How a tree moves them: map_test.cpp.

#include <outsize/container/detail/tree/tree_cursors.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace outsize::detail {
namespace {

using place = std::pair<std::uint64_t, std::uint32_t>;

place of(tree_cursor const& cursor) { return {cursor.leaf(), cursor.slot()}; }

TEST(tree_cursors, move_with_their_entries) {
  tree_cursors all;
  tree_cursor const a(all, 1, 3);
  tree_cursor const b(all, 1, 5);
  tree_cursor const c(all, 65, 5);  // in the same list
  all.shift(1, 4, 1, 1);
  EXPECT_EQ(of(a), place(1, 3));
  EXPECT_EQ(of(b), place(1, 6));
  EXPECT_EQ(b.moves(), 0U);
  all.shift(1, 0, 5, 65, 10);
  EXPECT_EQ(of(a), place(65, 13));
  EXPECT_EQ(a.moves(), 1U);
  EXPECT_EQ(of(b), place(1, 6));
  all.shift(65, 6, 2, -6);
  EXPECT_EQ(of(a), place(2, 7));
  EXPECT_EQ(of(c), place(65, 5));
  EXPECT_EQ(c.moves(), 0U);
}

TEST(tree_cursors, are_copied_assigned_and_end) {
  auto all = std::make_unique<tree_cursors>();
  tree_cursor a(*all, 1, 3);
  tree_cursor b = a;
  tree_cursor c;
  EXPECT_TRUE(c.is_end());
  c = b;
  { tree_cursor const gone = a; }
  b.set(7, 0);
  c.set_slot(4);
  all->shift(1, 0, 9, 0);
  EXPECT_EQ(of(a), place(9, 3));
  EXPECT_EQ(of(b), place(7, 0));
  EXPECT_EQ(of(c), place(9, 4));
  a = tree_cursor();
  EXPECT_TRUE(a.is_end());
  all.reset();
  EXPECT_TRUE(b.is_end() && c.is_end());
}

}  // namespace
}  // namespace outsize::detail
