// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The parsers of all formats, with bytes that come in pieces of all lengths.

#include <outsize/graph/detail/edge_file.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/testing/pieced_input.hpp>

namespace user_code {
namespace {

using namespace outsize;
using namespace outsize::graphs::detail;
using graphs::edge;

constexpr std::uint64_t any = vertex_range().count;
using opener = std::function<std::unique_ptr<edge_file>(std::unique_ptr<io::input_stream>)>;

struct outcome {
  edge_batch edges = {};
  std::uint64_t vertices = 0;
  std::string failure = {};

  bool operator==(outcome const&) const = default;
};

std::ostream& operator<<(std::ostream& out, outcome const& o) {
  for (auto const& e : o.edges) out << e.from << '-' << e.to << ' ';
  return out << "of " << o.vertices << " " << o.failure;
}

outcome read_in_pieces(opener const& open, std::string const& text, std::size_t piece_bytes) {
  outcome result;
  try {
    auto const file = open(std::make_unique<pieced_input>(
        text, pieced_input::options{.piece_bytes = piece_bytes, .name = "g"}));
    for (auto some = file->next(); !some.empty(); some = file->next())
      result.edges.insert(result.edges.end(), some.begin(), some.end());
    result.vertices = file->vertices();
  } catch (format_error const& e) {
    result.failure = e.what();
  }
  return result;
}

/// Reads the text whole, and checks that pieces make no difference.
outcome read(opener const& open, std::string_view text) {
  std::string const bytes(text);
  auto whole = read_in_pieces(open, bytes, bytes.size() + 1);
  for (std::size_t const piece_bytes : {1, 2, 3, 5, 7, 11, 16, 17}) {
    auto pieced = read_in_pieces(open, bytes, piece_bytes);
    if (!whole.failure.empty()) pieced.edges = whole.edges;  // those before it come or do not
    EXPECT_EQ(pieced, whole) << text << " by " << piece_bytes;
  }
  return whole;
}
std::string failure_of(opener const& open, std::string_view text) {
  return read(open, text).failure;
}

opener text_file(std::uint64_t vertices = any) {
  return [=](auto in) { return open_edge_lines(std::move(in), vertices); };
}
opener csv_file(csv_edges_options options = {}, std::uint64_t vertices = any) {
  return [=](auto in) { return open_csv_edges(std::move(in), vertices, options); };
}
opener binary_file(std::size_t vertex_bytes, std::uint64_t vertices = any) {
  return [=](auto in) { return open_binary_edges(std::move(in), vertices, vertex_bytes); };
}
opener market(std::uint64_t vertices = any) {
  return [=](auto in) { return open_matrix_market(std::move(in), vertices); };
}
opener metis(std::uint64_t vertices = any) {
  return [=](auto in) { return open_metis(std::move(in), vertices); };
}

TEST(edge_file, of_text_has_an_edge_in_each_line) {
  EXPECT_EQ(read(text_file(), "1 2\n# x\n10 20 0.5\n3\t4"), (outcome{{{1, 2}, {10, 20}, {3, 4}}}));
  EXPECT_EQ(read(text_file(), ""), outcome());
  EXPECT_EQ(failure_of(text_file(20), "1 2\n10 20"),
            "g:2: vertex 20, but there are 20 vertices, numbered from 0");
  EXPECT_EQ(failure_of(text_file(), "1 2\n\n17"), "g:3: not an edge of two vertices: '17'");
}

TEST(edge_file, of_csv_has_vertices_in_the_first_two_fields) {
  outcome const expected{{{1, 2}, {10, 20}}};
  EXPECT_EQ(read(csv_file(), "1,2\n10,20\n"), expected);
  EXPECT_EQ(read(csv_file(), "from,to\n1,2\r\n\r\n 10 ,\"20\",\"x\ny\"\n"), expected);
  EXPECT_EQ(read(csv_file({.csv = {';'}}), "1;2;3\n10;20"), expected);
  EXPECT_EQ(read(csv_file({.header = true}), "3,4\n1,2\n10,20\n"), expected);
  EXPECT_EQ(read(csv_file(), ""), outcome());
}

TEST(edge_file, of_csv_names_the_line_that_is_wrong) {
  EXPECT_EQ(failure_of(csv_file({.header = false}), "from,to\n1,2\n"),
            "g:1: not an edge of two vertices: 'from,to'");
  EXPECT_EQ(failure_of(csv_file(), "1,x\n"), "g:1: not an edge of two vertices: '1,x'");
  EXPECT_EQ(failure_of(csv_file(), "1,2,\"a\nb\"\n3\n"), "g:3: not an edge of two vertices: '3'");
  EXPECT_EQ(failure_of(csv_file(), "1,2\n3,\n"), "g:2: not an edge of two vertices: '3,'");
  EXPECT_EQ(failure_of(csv_file(), "1,2\n1,-2\n"), "g:2: not an edge of two vertices: '1,-2'");
  EXPECT_EQ(failure_of(csv_file(), "1,18446744073709551616\n"),
            "g:1: a vertex is too large: '1,18446744073709551616'");
  EXPECT_EQ(failure_of(csv_file({}, 5), "1,2\n5,1\n"),
            "g:2: vertex 5, but there are 5 vertices, numbered from 0");
  EXPECT_NE(failure_of(csv_file(), "1,\"2\n"), "");
}

TEST(edge_file, of_binary_numbers_is_pairs) {
  std::string bytes;
  for (std::uint32_t const number : {1U, 2U, 0xffffffffU, 0U})
    bytes.append(reinterpret_cast<char const*>(&number), sizeof number);
  EXPECT_EQ(read(binary_file(4), bytes), (outcome{{{1, 2}, {0xffffffffU, 0}}}));
  EXPECT_EQ(read(binary_file(8), bytes), (outcome{{{1 | std::uint64_t{2} << 32, 0xffffffffU}}}));
  EXPECT_EQ(read(binary_file(8), ""), outcome());
  EXPECT_EQ(failure_of(binary_file(4), bytes + "xyz"),
            "g: the last record is cut short: 19 bytes are no multiple of 8");
  EXPECT_EQ(failure_of(binary_file(8), bytes + "xyz"),
            "g: the last record is cut short: 19 bytes are no multiple of 16");
  EXPECT_EQ(failure_of(binary_file(4, 100), bytes),
            "g: pair 2: vertex 4294967295, but there are 100 vertices, numbered from 0");
  EXPECT_EQ(failure_of(binary_file(8), std::string(16, '\xff')),
            "g: pair 1: vertex 18446744073709551615 is too large");
}

constexpr std::string_view banner = "%%MatrixMarket matrix coordinate pattern general\n";

TEST(edge_file, of_matrix_market_has_an_edge_for_each_entry) {
  std::string const text = std::string(banner) + "% by hand\n\n5 7 3\n1 7\n%\n5 1\n3 3\n";
  EXPECT_EQ(read(market(), text), (outcome{{{0, 6}, {4, 0}, {2, 2}}, 7}));
  EXPECT_EQ(read(market(), "%%matrixmarket MATRIX Coordinate real symmetric\n2 2 1\n2 1 -0.5e3"),
            (outcome{{{1, 0}}, 2}));
  EXPECT_EQ(read(market(), std::string(banner) + "3 3 0\n"), (outcome{{}, 3}));
}

TEST(edge_file, of_matrix_market_is_held_against_its_header) {
  auto const failure = [](std::string const& rest, std::uint64_t vertices = any) {
    return failure_of(market(vertices), std::string(banner) + rest);
  };
  EXPECT_EQ(failure("%\n5 7 3\n1 7\n5 1\n"), "g:3: 3 entries, but there are 2");
  EXPECT_EQ(failure("5 7 1\n1 7\n5 1\n"), "g:2: 1 entries, but there are more");
  EXPECT_EQ(failure("5 7 1\n6 7\n"), "g:3: vertex 6, but there are 5 vertices, numbered from 1");
  EXPECT_EQ(failure("5 7 1\n\n5 8\n"), "g:4: vertex 8, but there are 7 vertices, numbered from 1");
  EXPECT_EQ(failure("5 7 1\n0 7\n"), "g:3: vertex 0, but vertices are numbered from 1");
  EXPECT_EQ(failure("5 7 1\n7\n"), "g:3: not an edge of two vertices: '7'");
  EXPECT_EQ(failure("5 7\n1 2\n"), "g:2: not the numbers of rows, columns and entries: '5 7'");
  EXPECT_EQ(failure("5 7 1 1\n"), "g:2: not the numbers of rows, columns and entries: '5 7 1 1'");
  EXPECT_EQ(failure("%\n"), "g:3: ends before its line of sizes");
  EXPECT_EQ(failure("5 7 1\n1 1\n", 6), "g:2: 7 vertices, but there are to be 6 at most");
  EXPECT_EQ(failure_of(market(), "1 2\n"),
            "g:1: not the first line of a Matrix Market file: '1 2'");
  EXPECT_EQ(failure_of(market(), "%%MatrixMarket matrix array real general\n"),
            "g:1: not a matrix in coordinate format, which lists edges: "
            "'%%MatrixMarket matrix array real general'");
}

TEST(edge_file, of_metis_has_each_edge_once) {
  outcome const path{{{0, 1}, {1, 2}}, 4};  // of three vertices, and one without neighbours
  EXPECT_EQ(read(metis(), "4 2\n2\n1 3\n2\n\n"), path);
  EXPECT_EQ(read(metis(), "% a comment\n4 2 000\n2\n% another, 7 8\n3 1\n2 \n\n\n \n"), path);
  EXPECT_EQ(read(metis(), "4 2 1\n2 9\n1 9 3 8\n2 8\n\n"), path);
  EXPECT_EQ(read(metis(), "4 2 010\n7 2\n7 1 3\n7 2\n7\n"), path);
  EXPECT_EQ(read(metis(), "4 2 11 2\n5 6 2 9\n5 6 1 9 3 8\n5 6 2 8\n5 6\n"), path);
  EXPECT_EQ(read(metis(), "4 2 100\n5 2\n5 1 3\n5 2\n5\n"), path);
  EXPECT_EQ(read(metis(), "2 0\n\n\n"), (outcome{{}, 2}));
}

TEST(edge_file, of_metis_is_held_against_its_header) {
  auto const failure = [](std::string_view text, std::uint64_t vertices = any) {
    return failure_of(metis(vertices), text);
  };
  EXPECT_EQ(failure("3 2\n2\n1 3\n"), "g:1: 3 vertices, but there are lines for 2");
  EXPECT_EQ(failure("2 1\n2\n1\n1\n"), "g:4: more lines than the 2 vertices of the header");
  EXPECT_EQ(failure("3 3\n2\n1 3\n2\n"), "g:1: 3 edges, so 6 neighbours, but there are 4");
  EXPECT_EQ(failure("3 18446744073709551615\n2\n1 3\n2\n").substr(0, 4), "g:1:");
  EXPECT_EQ(failure("3 1\n2\n\n2\n"), "g:1: an edge is not in the lines of both of its vertices");
  EXPECT_EQ(failure("3 2\n2\n1 4\n2\n"),
            "g:3: vertex 4, but there are 3 vertices, numbered from 1");
  EXPECT_EQ(failure("3 2\n2\n1 x\n2\n"), "g:3: not a number: 'x'");
  EXPECT_EQ(failure("3 2\n2\n1 3.5\n2\n"), "g:3: not a number: '3.5'");
  EXPECT_EQ(failure("2 1 1\n2 5\n1\n"), "g:3: the last neighbour has no weight");
  EXPECT_EQ(failure("2 1 10 2\n2\n1 1 1\n"), "g:2: fewer than 2 weights");
  EXPECT_EQ(failure("3\n"), "g:1: a header has 2 to 4 numbers");
  EXPECT_EQ(failure("3 2 0 0 0\n"), "g:1: a header has 2 to 4 numbers");
  EXPECT_EQ(failure("3 2 2\n"), "g:1: '2' is not a format of three digits 0 or 1");
  EXPECT_EQ(failure("\n%\n"), "g:3: ends before its header");
  EXPECT_EQ(failure("\n3 2\n2\n1 3\n2\n", 2), "g:2: 3 vertices, but there are to be 2 at most");
  EXPECT_EQ(failure("1 99999999999999999999\n"),
            "g:1: a number is too large: '99999999999999999999'");
}

TEST(edge_file, tells_of_streams_that_fail) {
  for (auto const& open : {text_file(), csv_file(), binary_file(4), metis()}) {
    auto const file = open(std::make_unique<pieced_input>(
        "", pieced_input::options{.piece_bytes = 10, .fails = true}));
    EXPECT_THROW(file->next(), io_error);
  }
}

}  // namespace
}  // namespace user_code
