// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Both ways of checking, on sets that are right and on sets that are not, against definitions.

#include <outsize/graph/independent_set_check.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/testing/counted_storage.hpp>
#include <outsize/testing/graph_models.hpp>

namespace user_code {
namespace {

using namespace outsize;
using graphs::edge;
using graphs::independence_fault;
using fault = std::optional<independence_fault>;
using vertices_of = std::vector<std::uint64_t>;

/// The least edge within the set, or else the least uncovered vertex, by the definitions.
fault fault_by_definition(std::uint64_t vertices, models::vertex_pairs const& pairs,
                          vertices_of const& members) {
  std::vector<bool> is_member(vertices, false), is_covered(vertices, false);
  for (auto const v : members) is_member[v] = is_covered[v] = true;
  for (auto const& [u, v] : models::simple_pairs(pairs)) {
    if (is_member[u] && is_member[v])
      return independence_fault{independence_fault::kind::dependent_edge, {u, v}};
    if (is_member[u]) is_covered[v] = true;
    if (is_member[v]) is_covered[u] = true;
  }
  for (std::uint64_t v = 0; v < vertices; ++v)
    if (!is_covered[v])
      return independence_fault{independence_fault::kind::uncovered_vertex, {v, v}};
  return std::nullopt;
}

struct independent_set_check : testing::Test, scratch::counted_storage {
  std::uint64_t seed = std::random_device{}();
  std::mt19937_64 random{seed};

  fault check(std::uint64_t vertices, models::vertex_pairs const& pairs, vertices_of members,
              bool bitmaps) {
    graphs::independent_set_check_options options;
    if (!bitmaps) options.most_bitmap_bytes = 0;
    graphs::independent_set_check check(store, vertices, options);
    EXPECT_EQ(check.uses_bitmaps(), bitmaps);
    std::ranges::shuffle(members, random);
    check.push_members(members);
    std::vector<edge<std::uint64_t>> edges;
    for (auto const& [u, v] : pairs) edges.push_back({u, v});
    check.push_edges(edges);
    return check.fault();
  }
};

TEST_F(independent_set_check, finds_the_least_fault_of_any_set) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  int right = 0, wrong = 0;
  for (int trial = 0; trial < 60; ++trial) {
    std::uint64_t const vertices = 1 + random() % 40;
    auto const pairs = models::random_pairs(random, vertices, random() % 80);
    auto members = models::greedy_set(vertices, pairs);
    if (trial % 3 == 1)
      members.erase(members.begin() + static_cast<int>(random() % members.size()));
    if (trial % 3 == 2) members.push_back(random() % vertices);
    auto const expected = fault_by_definition(vertices, pairs, members);
    EXPECT_EQ(check(vertices, pairs, members, true), expected);
    EXPECT_EQ(check(vertices, pairs, members, false), expected);
    ++(expected ? wrong : right);
  }
  EXPECT_EQ(reads() + writes(), 0U);  // of graphs that fit in memory
  EXPECT_GT(right, 10);
  EXPECT_GT(wrong, 10);
}

TEST_F(independent_set_check, proves_a_set_beyond_the_memory) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  constexpr std::uint64_t vertices = 100'000;
  auto const pairs = models::random_pairs(random, vertices, 200'000);
  auto members = models::greedy_set(vertices, pairs);
  EXPECT_EQ(check(vertices, pairs, members, false), std::nullopt);
  EXPECT_GT(writes(), 0U);
  auto const gone = members[members.size() / 2];
  std::erase(members, gone);
  EXPECT_EQ(check(vertices, pairs, members, false), fault_by_definition(vertices, pairs, members));
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

TEST_F(independent_set_check, has_bitmaps_where_they_fit) {
  EXPECT_TRUE(graphs::independent_set_check(store, 1'000'000).uses_bitmaps());
  EXPECT_FALSE(graphs::independent_set_check(store, 10'000'000).uses_bitmaps());
}

TEST_F(independent_set_check, takes_vertices_of_more_than_32_bits) {
  constexpr std::uint64_t far = std::uint64_t{1} << 40;
  graphs::independent_set_check check(store, far + 1);
  check.push_members(std::vector<std::uint64_t>{far, 3, 7});
  check.push_edges(std::vector<edge<std::uint64_t>>{{far, 3}, {0, 3}});
  auto const found = check.fault();
  EXPECT_EQ(found, (independence_fault{independence_fault::kind::dependent_edge, {3, far}}));
  EXPECT_EQ(found->message(1), "4 and 1099511627777 are members and joined by an edge");
}

TEST_F(independent_set_check, refuses_vertices_that_there_are_not) {
  for (bool const bitmaps : {true, false}) {
    EXPECT_THROW(check(10, {}, {10}, bitmaps), format_error);
    EXPECT_THROW(check(10, {{3, 10}}, {1}, bitmaps), format_error);
  }
  EXPECT_EQ(check(1, {}, {}, true)->message(),
            "vertex 0 is no member and has no neighbour that is one");
  EXPECT_EQ(check(0, {}, {}, false), std::nullopt);
}

}  // namespace
}  // namespace user_code
