// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/graph/detail/edge_lines.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include <outsize/base/error.hpp>

namespace user_code {
namespace {

using namespace outsize;
using namespace outsize::graphs::detail;
using graphs::edge;

struct edge_lines : testing::Test {
  std::string file = "g";

  std::string failure(std::string_view text, vertex_range range = {}) {
    try {
      edge_batch edges;
      edge_line_parser(file, range, range).parse(text, edges);
      return "none";
    } catch (format_error const& e) {
      return e.what();
    }
  }
};

TEST_F(edge_lines, takes_two_numbers_of_each_line) {
  edge_line_parser parser(file, {1, 50}, {1, 60});
  edge_batch edges;
  parser.parse("1 2\n# 3 4\n\n  5\t60 0.5 x\r\n%\n \r\n50 0006\n", edges);
  EXPECT_EQ(edges, (edge_batch{{0, 1}, {4, 59}, {49, 5}}));
  EXPECT_EQ(parser.line(), 8U);
  parser.skip_lines(2);
  parser.parse("7 8\r\n", edges);
  EXPECT_EQ(edges.back(), (edge<std::uint64_t>{6, 7}));
  EXPECT_EQ(parser.line(), 11U);
}

TEST_F(edge_lines, takes_all_numbers_of_64_bits_but_the_greatest) {
  edge_batch edges;
  edge_line_parser(file, {}, {})
      .parse("18446744073709551614 9999999999999999999\n0000000000000000000000001 0\n", edges);
  EXPECT_EQ(edges, (edge_batch{{18446744073709551614U, 9999999999999999999U}, {1, 0}}));
  EXPECT_EQ(failure("0 18446744073709551615\n"), "g:1: vertex 18446744073709551615 is too large");
  for (char const* text : {"18446744073709551616", "99999999999999999999", "28446744073709551616",
                           "184467440737095516160000000000000000000000"})
    EXPECT_TRUE(failure(std::string(text) + " 1\n").starts_with("g:1: a vertex is too large: '"))
        << text;
}

TEST_F(edge_lines, names_the_line_that_is_no_edge) {
  std::string const no_edge = ": not an edge of two vertices: '";
  for (char const* line : {"1", "1 ", "a b", "1,2", "1 x", "1.5 2", "1 2.5", "-1 2", "1 -2", "1 2x",
                           "1\v2", "+1 2", "1 2;"}) {
    EXPECT_EQ(failure(std::string("1 2\n\n") + line + "\n1 2\n"), "g:3" + no_edge + line + "'");
    EXPECT_EQ(failure(std::string(line) + "\r\n"), "g:1" + no_edge + std::string(line) + "'");
  }
  EXPECT_EQ(failure(std::string(100, 'x') + "\n"), "g:1" + no_edge + std::string(40, 'x') + "…'");
}

TEST_F(edge_lines, names_a_vertex_that_there_is_not) {
  EXPECT_EQ(failure("1 2\n3 10\n", {0, 10}),
            "g:2: vertex 10, but there are 10 vertices, numbered from 0");
  EXPECT_EQ(failure("11 1\n", {1, 10}),
            "g:1: vertex 11, but there are 10 vertices, numbered from 1");
  EXPECT_EQ(failure("10 0\n", {1, 10}), "g:1: vertex 0, but vertices are numbered from 1");
  EXPECT_EQ(failure("10 1\n", {1, 10}), "none");
}

}  // namespace
}  // namespace user_code
