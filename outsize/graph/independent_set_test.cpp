// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Independent sets of random graphs, in both forms, against a greedy in memory.

#include <outsize/graph/independent_set.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/testing/counted_storage.hpp>
#include <outsize/testing/graph_models.hpp>

namespace user_code {
namespace {

using namespace outsize;
using graphs::edge;

struct independent_set : testing::Test, scratch::counted_storage {
  std::uint64_t seed = std::random_device{}();
  std::mt19937_64 random{seed};

  graphs::independent_set_report find(std::uint64_t vertices, models::vertex_pairs const& pairs,
                                      std::vector<std::uint64_t>& found) {
    graphs::independent_set_finder finder(store);
    for (auto const& [u, v] : pairs) finder.push(edge<std::uint64_t>{u, v});
    return finder.find(vertices, [&](std::span<std::uint64_t const> members) {
      found.insert(found.end(), members.begin(), members.end());
    });
  }
};

TEST_F(independent_set, is_that_of_a_greedy) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  for (int trial = 0; trial < 30; ++trial) {
    std::uint64_t const vertices = random() % 60;
    auto const pairs = models::random_pairs(random, vertices, random() % 150);
    std::vector<std::uint64_t> found;
    auto const report = find(vertices, pairs, found);
    EXPECT_EQ(found, models::greedy_set(vertices, pairs)) << vertices;
    EXPECT_EQ(report.members, found.size());
    EXPECT_EQ(report.vertices, vertices);
    EXPECT_EQ(report.vertex_bytes, 4U);
  }
}

TEST_F(independent_set, is_that_of_a_greedy_beyond_the_memory) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  constexpr std::uint64_t vertices = 300'000;
  auto const pairs = models::random_pairs(random, vertices, 400'000);
  std::vector<std::uint64_t> found;
  find(vertices, pairs, found);
  EXPECT_TRUE(found == models::greedy_set(vertices, pairs));
  EXPECT_GT(writes(), 0U);
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

TEST_F(independent_set, is_the_same_in_containers) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  constexpr std::uint32_t vertices = 20'000;
  auto const pairs = models::random_pairs(random, vertices, 100'000);
  outsize::vector<edge<std::uint32_t>> edges(store);
  for (auto const& [u, v] : pairs)
    edges.push_back({static_cast<std::uint32_t>(u), static_cast<std::uint32_t>(v)});
  graphs::make_simple(edges);
  sequence<std::uint32_t> members(store);
  auto const count = graphs::independent_set(store, vertices, edges, members);
  std::vector<std::uint64_t> found;
  for (auto const v : members.forward()) found.push_back(v);
  EXPECT_TRUE(found == models::greedy_set(vertices, pairs));
  EXPECT_EQ(count, found.size());
}

TEST_F(independent_set, has_all_isolated_vertices) {
  std::vector<std::uint64_t> found;
  find(5, {}, found);
  EXPECT_EQ(found, (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
  found.clear();
  find(6, {{4, 2}, {3, 3}}, found);
  EXPECT_EQ(found, (std::vector<std::uint64_t>{0, 1, 2, 3, 5}));
  found.clear();
  find(0, {}, found);
  EXPECT_TRUE(found.empty());
}

TEST_F(independent_set, widens_edges_when_a_vertex_needs_more_than_32_bits) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  auto const pairs = models::random_pairs(random, 2000, 6000);
  std::uint64_t const far = std::uint64_t{1} << 32;
  graphs::independent_set_finder finder(store);
  std::size_t pushed = 0;
  for (auto const& [u, v] : pairs) {
    finder.push(edge<std::uint64_t>{u, v});
    if (++pushed == 3000) finder.push(edge<std::uint64_t>{far, 5});
  }
  // To visit all 2^32 vertices would take long.
  std::vector<std::uint64_t> found;
  auto const take = [&](std::span<std::uint64_t const> members) {
    found.insert(found.end(), members.begin(), members.end());
    if (found.size() > 3000) throw cancelled("enough");
  };
  EXPECT_THROW(finder.find(far + 1, take), cancelled);
  auto expected = models::greedy_set(found.back() + 1, pairs);
  EXPECT_TRUE(found == expected);
}

TEST_F(independent_set, refuses_an_edge_to_no_vertex) {
  std::vector<std::uint64_t> found;
  for (edge<std::uint64_t> const bad : {edge<std::uint64_t>{0, 10}, {10, 11}, {10, 0}}) {
    try {
      find(10, {{1, 2}, {bad.from, bad.to}}, found);
      FAIL();
    } catch (std::invalid_argument const& e) {
      EXPECT_NE(std::string(e.what()).find("10"), std::string::npos) << e.what();
    }
  }
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

}  // namespace
}  // namespace user_code
