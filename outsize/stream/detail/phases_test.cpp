// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Graphs are divided into phases without running.
#include <outsize/stream/detail/phases.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>

namespace outsize::stream::detail {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

graph_edge channel(std::size_t from, std::size_t to, std::uint64_t bytes = 1) {
  return {from, to, false, bytes};
}
graph_edge cut(std::size_t from, std::size_t to) { return {from, to, true, 1}; }

/// Components as text: "0 1 | 2".
std::string text_of(graph_parts const& parts) {
  std::string text;
  std::size_t level = 0;
  for (component const& c : parts.components) {
    EXPECT_GE(c.level, level);
    level = c.level;
    text += text.empty() ? "" : " |";
    for (std::size_t s : c.segments) text += " " + std::to_string(s);
    text += " @" + std::to_string(c.level);
  }
  return text;
}

TEST(phases, a_sort_is_between_two) {
  auto const parts = divide_graph(2, {cut(0, 1)});
  EXPECT_EQ(text_of(parts), " 0 @0 | 1 @1");
  EXPECT_THAT(parts.stores, IsEmpty());
}

TEST(phases, channels_are_within_one) {
  EXPECT_EQ(text_of(divide_graph(3, {channel(0, 1), channel(1, 2)})), " 0 1 2 @0");
}

TEST(phases, the_diamond_has_three) {
  // fork 0; two sorts; 1 and 2 lead to two sorts; zip 3.
  auto const parts = divide_graph(4, {cut(0, 1), cut(0, 2), cut(1, 3), cut(2, 3)});
  EXPECT_EQ(text_of(parts), " 0 @0 | 1 @1 | 2 @1 | 3 @2");
  EXPECT_THAT(parts.stores, IsEmpty());
}

TEST(phases, a_way_around_a_sort_gets_a_store) {
  auto const parts = divide_graph(2, {cut(0, 1), channel(0, 1)});
  EXPECT_EQ(text_of(parts), " 0 @0 | 1 @1");
  EXPECT_THAT(parts.stores, ElementsAre(1));
}

TEST(phases, a_store_is_where_the_fewest_bytes_go) {
  // fork 0; scan 1 on the way around the sort; zip 2.
  EXPECT_THAT(divide_graph(3, {cut(0, 2), channel(0, 1, 10), channel(1, 2, 5)}).stores,
              ElementsAre(2));
  EXPECT_THAT(divide_graph(3, {cut(0, 2), channel(0, 1, 5), channel(1, 2, 10)}).stores,
              ElementsAre(1));
}

TEST(phases, sources_begin_when_they_are_needed) {
  // 0 sorts for 2; 1 is another source that 2 joins with it.
  auto const parts = divide_graph(3, {cut(0, 2), channel(1, 2)});
  EXPECT_EQ(text_of(parts), " 0 @0 | 1 2 @1");
  EXPECT_THAT(parts.stores, IsEmpty());
  // Also over several channels.
  EXPECT_THAT(divide_graph(4, {cut(0, 2), channel(1, 3), channel(3, 2)}).stores, IsEmpty());
}

TEST(phases, segments_that_cannot_be_parted_stay_together) {
  graph_edge deal = channel(1, 2);
  deal.can_be_store = false;
  auto const parts = divide_graph(3, {cut(0, 2), channel(0, 1), deal});
  EXPECT_EQ(text_of(parts), " 0 @0 | 1 2 @1");
  EXPECT_THAT(parts.stores, ElementsAre(1));
}

TEST(phases, of_a_circle_do_not_exist) {
  EXPECT_THROW(divide_graph(2, {channel(0, 1), cut(1, 0)}), plan_error);
  EXPECT_THROW(divide_graph(3, {channel(0, 1), channel(1, 2), channel(2, 1)}), plan_error);
}

/// In any graph a cut's reader comes later than its writer, a channel's ends are together unless it
/// is a store, and no store is put where none is needed.
TEST(phases, random_graphs_keep_the_rules) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::size_t const n = 1 + random() % 8;
    std::vector<graph_edge> edges;
    bool any_cut = false;
    for (std::size_t to = 1; to < n; ++to)
      for (std::size_t from = 0; from < to; ++from)
        if (random() % 3 == 0) {
          edges.push_back({from, to, random() % 3 == 0, random() % 4});
          any_cut |= edges.back().is_cut;
        }
    auto const parts = divide_graph(n, edges);
    std::vector<std::size_t> component_of(n, SIZE_MAX), place(n);
    std::size_t count = 0;
    for (std::size_t c = 0; c < parts.components.size(); ++c)
      for (std::size_t s : parts.components[c].segments) {
        component_of[s] = c;
        place[s] = count++;
      }
    ASSERT_EQ(count, n);
    for (std::size_t e = 0; e < edges.size(); ++e) {
      auto const [from, to, is_cut, bytes, rest] = edges[e];
      bool const is_store = std::ranges::count(parts.stores, e) > 0;
      EXPECT_LT(place[from], place[to]);
      if (is_cut || is_store) {
        EXPECT_LT(parts.components[component_of[from]].level,
                  parts.components[component_of[to]].level);
      } else {
        EXPECT_EQ(component_of[from], component_of[to]);
      }
    }
    EXPECT_TRUE(any_cut || parts.stores.empty());
  }
}

}  // namespace
}  // namespace outsize::stream::detail
