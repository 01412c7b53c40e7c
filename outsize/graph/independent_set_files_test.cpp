// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Sets from file to file against a greedy in memory, and checks of sets in files.

#include <outsize/graph/independent_set_files.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/graph_models.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace user_code {
namespace {

using namespace outsize;
using namespace outsize::graphs;

std::string lines_of(models::vertex_pairs const& pairs) {
  std::string text;
  for (auto const& [u, v] : pairs) text += std::to_string(u) + ' ' + std::to_string(v) + '\n';
  return text;
}
std::string lines_of(std::vector<std::uint64_t> const& numbers) {
  std::string text;
  for (auto const v : numbers) text += std::to_string(v) + '\n';
  return text;
}

struct written_independent_set : testing::Test {
  scratch::directory dir;
  storage store{{.disks = {dir.path()}, .memory_bytes = 2_MiB, .threads = 2}};
  std::uint64_t seed = std::random_device{}();
  std::mt19937_64 random{seed};

  std::string write(std::string_view name, std::string_view bytes) {
    scratch::write_file(dir.path(name), bytes);
    return dir.path(name);
  }
  edge_source edges(std::string_view text) { return {.paths = {write("edges", text)}}; }
  independent_set_outcome find(edge_source source, bool verify = true) {
    return write_independent_set(
        store, {.edges = std::move(source), .output = dir.path("out"), .verify = verify});
  }
  independent_set_outcome check(edge_source const& source, std::string_view members) {
    return check_independent_set(store, source, write("members", members));
  }
};

TEST_F(written_independent_set, has_the_set_of_a_greedy) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  constexpr std::uint64_t vertices = 200'000;
  auto const pairs = models::random_pairs(random, vertices, 500'000);
  auto const expected = models::greedy_set(vertices, pairs);
  auto source = edges(lines_of(pairs));
  source.vertices = vertices;
  auto const outcome = find(source);
  EXPECT_EQ(outcome.fault, std::nullopt);
  EXPECT_EQ(outcome.vertices, vertices);
  EXPECT_EQ(outcome.edges, pairs.size());
  EXPECT_EQ(outcome.members, expected.size());
  EXPECT_GT(outcome.sort.runs, 0U);
  EXPECT_TRUE(scratch::read_file(dir.path("out")) == lines_of(expected));

  auto const checked = check(source, lines_of(expected));
  EXPECT_EQ(checked.fault, std::nullopt);
  EXPECT_EQ(checked.members, expected.size());
  EXPECT_EQ(store.allocated_bytes(), 0U);
  EXPECT_EQ(dir.names(), (std::vector<std::string>{"edges", "members", "out"}));
}

TEST_F(written_independent_set, may_replace_the_edges) {
  auto const source = edges("0 1\n1 2\n");
  write_independent_set(store, {.edges = source, .output = source.paths[0]});
  EXPECT_EQ(scratch::read_file(source.paths[0]), "0\n2\n");
}

TEST_F(written_independent_set, numbers_vertices_as_the_edges_do) {
  auto const source = edges("%%MatrixMarket matrix coordinate pattern general\n4 4 2\n1 2\n2 3\n");
  EXPECT_EQ(find(source).first_vertex, 1U);
  EXPECT_EQ(scratch::read_file(dir.path("out")), "1\n3\n4\n");
  EXPECT_EQ(check(source, "4\n1\n3\n").fault, std::nullopt);
  auto const wrong = check(source, "# members\n4 of 4\n\n1\r\n2");
  EXPECT_EQ(wrong.fault, (independence_fault{independence_fault::kind::dependent_edge, {0, 1}}));
  EXPECT_EQ(wrong.fault->message(wrong.first_vertex), "1 and 2 are members and joined by an edge");
  EXPECT_EQ(check(source, "1\n4\n").fault->message(1),
            "vertex 3 is no member and has no neighbour that is one");
}

TEST_F(written_independent_set, names_the_line_of_a_bad_member) {
  auto const failure = [&](std::string_view members) -> std::string {
    try {
      check(edges("0 1\n1 2\n"), members);
      return "none";
    } catch (format_error const& e) {
      return e.what();
    }
  };
  auto const name = dir.path("members");
  EXPECT_EQ(failure("0\nx\n"), name + ":2: not a vertex: 'x'");
  EXPECT_EQ(failure("0\n2,\n"), name + ":2: not a vertex: '2,'");
  EXPECT_EQ(failure("0\n\n3\n"), name + ":3: vertex 3, but there are 3 vertices, numbered from 0");
  EXPECT_EQ(failure("99999999999999999999"), name + ":1: not a vertex: '99999999999999999999'");
  EXPECT_EQ(failure("0\n2"), "none");
}

TEST_F(written_independent_set, writes_nothing_after_an_error) {
  EXPECT_THROW(find(edges("0 1\n1\n")), format_error);
  EXPECT_THROW(find({.paths = {dir.path("nowhere")}}), io_error);
  EXPECT_THROW(find({.paths = {"-"}}), std::invalid_argument);
  EXPECT_THROW(find({.paths = {"/dev/null"}}), std::invalid_argument);
  EXPECT_EQ(find({.paths = {"/dev/null"}}, false).members, 0U);
  EXPECT_THROW(check({.paths = {"/dev/null"}}, ""), std::invalid_argument);
  EXPECT_EQ(check({.paths = {"/dev/null"}, .vertices = 0}, "").fault, std::nullopt);
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

}  // namespace
}  // namespace user_code
