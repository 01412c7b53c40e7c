// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The readers of containers as ranges.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <ranges>
#include <span>
#include <vector>

#include <outsize/container/map.hpp>
#include <outsize/container/sequence.hpp>
#include <outsize/container/set.hpp>
#include <outsize/container/vector_readers.hpp>
#include <outsize/testing/counted_storage.hpp>

namespace outsize {
namespace {

struct readers_of_containers : testing::Test, scratch::counted_storage {};

TEST_F(readers_of_containers, are_ranges) {
  outsize::vector<std::uint64_t> v(store, {.page_bytes = 64, .cache_pages = 8});
  outsize::sequence<std::uint64_t> s(store, {.page_bytes = 64, .cache_pages = 8});
  map_options const small{
      .leaf_bytes = 128, .node_bytes = 128, .leaf_cache_bytes = 1, .node_cache_bytes = 1};
  outsize::set<std::uint64_t> tree(store, small);
  for (std::uint64_t i = 0; i < 100; ++i) {
    v.push_back(i);
    s.push_back(i);
    tree.insert(i);
  }
  std::vector<std::uint64_t> up(100);
  std::iota(up.begin(), up.end(), 0);
  std::vector<std::uint64_t> const down(up.rbegin(), up.rend());
  static_assert(std::ranges::input_range<vector_reader<std::uint64_t>>);
  static_assert(std::ranges::input_range<vector_reverse_reader<std::uint64_t>>);
  static_assert(std::ranges::input_range<decltype(tree.backward())>);
  vector_reader<std::uint64_t> part(v, 10, 20);
  EXPECT_TRUE(std::ranges::equal(part, std::span(up).subspan(10, 10)));
  EXPECT_TRUE(part.empty());
  EXPECT_TRUE(std::ranges::equal(vector_reader(v), up));
  EXPECT_TRUE(std::ranges::equal(vector_reverse_reader(v), down));
  EXPECT_TRUE(std::ranges::equal(s.forward(), up));
  EXPECT_TRUE(std::ranges::equal(s.backward(), down));
  EXPECT_TRUE(std::ranges::equal(tree.backward(), down));
  outsize::set<std::uint64_t> built(store, small);
  built.build_sorted(s.forward());
  EXPECT_EQ(built.size(), 100U);
  auto entries = tree.forward();
  outsize::vector<std::uint64_t> const between(store, entries.begin(), entries.end(),
                                               {.page_bytes = 64, .cache_pages = 8});
  EXPECT_TRUE(std::ranges::equal(between, up));
  EXPECT_TRUE(entries.empty());
}

/// A loop that is left early, at each of the items, and one over what is left.
template <typename Make>
void expect_to_go_on(Make const& make, std::vector<std::uint64_t> const& all) {
  for (std::size_t last = 0; last < all.size(); last += 7) {
    auto in = make();
    std::vector<std::uint64_t> seen;
    for (auto const item : in) {
      seen.push_back(item);
      if (item == all[last]) break;
    }
    for (auto const item : in | std::views::take(5)) seen.push_back(item);
    for (auto const item : in) seen.push_back(item);
    ASSERT_EQ(seen, all) << last;
  }
}

TEST_F(readers_of_containers, go_on_where_a_loop_was_left) {
  outsize::vector<std::uint64_t> v(store, {.page_bytes = 64, .cache_pages = 8});
  map_options const small{
      .leaf_bytes = 128, .node_bytes = 128, .leaf_cache_bytes = 1, .node_cache_bytes = 1};
  outsize::set<std::uint64_t> tree(store, small);
  for (std::uint64_t i = 0; i < 100; ++i) {
    v.push_back(i);
    tree.insert(i);
  }
  std::vector<std::uint64_t> up(100);
  std::iota(up.begin(), up.end(), 0);
  std::vector<std::uint64_t> const down(up.rbegin(), up.rend());
  expect_to_go_on([&] { return vector_reader(v); }, up);
  expect_to_go_on([&] { return vector_reverse_reader(v); }, down);
  expect_to_go_on([&] { return tree.forward(); }, up);
  expect_to_go_on([&] { return tree.backward(); }, down);
}

}  // namespace
}  // namespace outsize
