// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The check of independent sets accepts the greedy set and nothing else.

#include "independent_set_workload.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace user_code {
namespace {

using independent_set::edge;
using independent_set::random_graph;

/// The greedy algorithm with all edges in memory.
std::vector<std::uint64_t> greedy(random_graph const& graph) {
  std::vector<std::vector<std::uint64_t>> later(graph.vertex_count());
  independent_set::edge_generator next(graph);
  for (std::uint64_t i = 0; i < graph.edge_count; ++i)
    if (edge const e = next(); !e.is_loop()) later[e.source].push_back(e.target);
  std::vector<bool> is_covered(later.size());
  std::vector<std::uint64_t> members;
  for (std::size_t v = 0; v < later.size(); ++v) {
    if (is_covered[v]) continue;
    members.push_back(v);
    for (std::uint64_t const to : later[v]) is_covered[to] = true;
  }
  return members;
}

bool is_accepted(random_graph const& graph, std::vector<std::uint64_t> const& members) {
  independent_set::set_check check(graph);
  for (std::uint64_t const v : members) check.add(v);
  return check.is_greedy();
}

TEST(independent_set_workload, accepts_the_greedy_set) {
  for (std::uint64_t edges = 1; edges < 300; ++edges)
    EXPECT_TRUE(is_accepted({edges}, greedy({edges}))) << edges << " edges";
  EXPECT_TRUE(is_accepted({100'000}, greedy({100'000})));
}

TEST(independent_set_workload, refuses_a_set_with_a_member_less_or_more) {
  random_graph const graph{1000};
  auto const members = greedy(graph);
  for (std::size_t i = 0; i < members.size(); ++i) {
    auto less = members;
    less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(is_accepted(graph, less)) << "without " << members[i];
  }
  std::size_t place = 0;
  for (std::uint64_t v = 0; v < graph.vertex_count(); ++v) {
    if (place < members.size() && members[place] == v) {
      ++place;
      continue;
    }
    auto more = members;
    more.insert(more.begin() + static_cast<std::ptrdiff_t>(place), v);
    EXPECT_FALSE(is_accepted(graph, more)) << "with " << v;
  }
}

TEST(independent_set_workload, refuses_members_that_are_no_vertices_or_out_of_order) {
  random_graph const graph{1000};
  auto members = greedy(graph);
  members.push_back(graph.vertex_count());
  EXPECT_FALSE(is_accepted(graph, members));
  members.pop_back();
  members.push_back(members.back());
  EXPECT_FALSE(is_accepted(graph, members));
}

TEST(independent_set_workload, has_edges_that_lead_to_greater_vertices) {
  random_graph const graph{10'000};
  EXPECT_EQ(graph.vertex_count(), 8192U);
  independent_set::edge_generator next(graph);
  for (std::uint64_t i = 0; i < graph.edge_count; ++i) {
    edge const e = next();
    EXPECT_LE(e.source, e.target);
    EXPECT_LT(e.target, graph.vertex_count());
  }
}

}  // namespace
}  // namespace user_code
