// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Simple graphs of random pairs, pipelined and in a vector, against the same in memory.

#include <outsize/graph/simple_edges.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include <outsize/testing/counted_storage.hpp>
#include <outsize/testing/graph_models.hpp>

namespace user_code {
namespace {

using namespace outsize;

template <typename Vertex>
struct simple_edges : testing::Test, scratch::counted_storage {
  std::uint64_t seed = std::random_device{}();

  /// Vertices are spread over all numbers of the type, so that their order by bytes is another one.
  static Vertex spread(std::uint64_t v) {
    return static_cast<Vertex>(v * (std::numeric_limits<Vertex>::max() / 40'000));
  }
  static std::vector<graphs::edge<Vertex>> edges_of(models::vertex_pairs const& pairs) {
    std::vector<graphs::edge<Vertex>> edges;
    for (auto const& [u, v] : pairs) edges.push_back({spread(u), spread(v)});
    return edges;
  }
};
using vertex_types = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(simple_edges, vertex_types);

TYPED_TEST(simple_edges, are_sorted_and_each_comes_once) {
  SCOPED_TRACE(testing::Message() << "seed " << this->seed);
  std::mt19937_64 random(this->seed);
  for (std::size_t const count : {0, 1, 300, 200'000}) {
    auto const pairs = models::random_pairs(random, 40'000, count);
    graphs::simple_edges<TypeParam> edges(this->store);
    for (auto const& e : this->edges_of(pairs)) edges.push(e);
    std::vector<graphs::edge<TypeParam>> found;
    for (edges.sort(); !edges.empty(); ++edges) found.push_back(*edges);
    EXPECT_TRUE(found == this->edges_of(models::simple_pairs(pairs))) << count;
    EXPECT_TRUE(count > 300 || this->writes() == 0);
  }
  EXPECT_GT(this->writes(), 0U);
  EXPECT_EQ(this->store.allocated_bytes(), 0U);
}

TYPED_TEST(simple_edges, are_the_same_in_a_vector) {
  SCOPED_TRACE(testing::Message() << "seed " << this->seed);
  std::mt19937_64 random(this->seed);
  for (std::size_t const count : {0, 1, 300, 100'000}) {
    auto const pairs = models::random_pairs(random, 40'000, count);
    outsize::vector<graphs::edge<TypeParam>> edges(this->store);
    for (auto const& e : this->edges_of(pairs)) edges.push_back(e);
    graphs::make_simple(edges);
    auto const expected = this->edges_of(models::simple_pairs(pairs));
    std::vector<graphs::edge<TypeParam>> const found(edges.begin(), edges.end());
    EXPECT_TRUE(found == expected) << count;
  }
  EXPECT_GT(this->writes(), 0U);
}

}  // namespace
}  // namespace user_code
