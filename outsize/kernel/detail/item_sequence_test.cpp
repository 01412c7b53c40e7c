// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A sequence of pieces against a plain vector of items.

#include <outsize/kernel/detail/item_sequence.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include <outsize/kernel/detail/typed_view.hpp>

namespace outsize::detail {
namespace {

using view = typed_view<int>;

std::vector<int> items_of(std::vector<piece<view>> const& pieces) {
  std::vector<int> items;
  if (pieces.empty()) return items;
  piece_cursor<view> cursor(pieces);
  do items.push_back(cursor.get());
  while (cursor.next());
  return items;
}

TEST(item_sequence, is_the_concatenation_of_its_views) {
  std::vector<int> const a{1, 2, 3}, b{4}, none, c{5, 6};
  item_sequence<view> s;
  for (auto const* part : {&a, &b, &none, &c}) s.append(view(std::span(*part)));
  EXPECT_EQ(s.size(), 6U);
  EXPECT_EQ(items_of(s.slice(0, 6)), (std::vector<int>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(items_of(s.slice(2, 5)), (std::vector<int>{3, 4, 5}));
  EXPECT_TRUE(s.slice(3, 3).empty());
  EXPECT_EQ(s.bytes(2, 5), 3 * sizeof(int));
}

TEST(item_sequence, counts_the_views_that_are_used_up) {
  std::vector<int> const a{1, 2, 3}, b{4}, c{5, 6};
  item_sequence<view> s;
  for (auto const* part : {&a, &b, &c}) s.append(view(std::span(*part)));
  EXPECT_EQ(s.consume(0), 0U);
  EXPECT_EQ(s.consume(2), 0U);
  EXPECT_EQ(s.consume(2), 2U);
  EXPECT_EQ(s.key(0), 5);
  EXPECT_EQ(s.consume(2), 1U);
  EXPECT_EQ(s.size(), 0U);
}

TEST(item_sequence, agrees_with_a_vector_while_it_grows_and_shrinks) {
  std::uint64_t const seed = 19;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::vector<std::unique_ptr<std::vector<int>>> memory;
  item_sequence<view> s;
  std::vector<int> model;
  for (int step = 0; step < 2000; ++step) {
    if (random() % 2 == 0) {
      memory.push_back(std::make_unique<std::vector<int>>(random() % 10));
      std::iota(memory.back()->begin(), memory.back()->end(), step);
      s.append(view(std::span<int const>(*memory.back())));
      model.insert(model.end(), memory.back()->begin(), memory.back()->end());
    } else if (!model.empty()) {
      std::size_t const count = random() % (model.size() + 1);
      s.consume(count);
      model.erase(model.begin(), model.begin() + static_cast<std::ptrdiff_t>(count));
    }
    ASSERT_EQ(s.size(), model.size());
    if (model.empty()) continue;
    std::size_t const rank = random() % model.size();
    ASSERT_EQ(s.key(rank), model[rank]);
    ASSERT_EQ(items_of(s.slice(rank, model.size())),
              std::vector<int>(model.begin() + static_cast<std::ptrdiff_t>(rank), model.end()));
  }
}

}  // namespace
}  // namespace outsize::detail
