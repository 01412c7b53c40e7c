// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/graph/edge_format.hpp>

#include <gtest/gtest.h>

#include <string_view>

namespace user_code {
namespace {

using namespace outsize::graphs;
using enum edge_format;

TEST(edge_format, has_a_name) {
  EXPECT_EQ(edge_format_called("auto"), automatic);
  EXPECT_EQ(edge_format_called("mm"), matrix_market);
  EXPECT_EQ(edge_format_called("u64"), u64);
  EXPECT_EQ(edge_format_called("U64"), std::nullopt);
}

TEST(edge_format, is_promised_by_a_name) {
  EXPECT_EQ(edge_format_of_name("a.b/web.mtx"), matrix_market);
  EXPECT_EQ(edge_format_of_name("WEB.CSV"), csv);
  EXPECT_EQ(edge_format_of_name("web.graph.zst"), metis);
  EXPECT_EQ(edge_format_of_name("web.u32.gz"), u32);
  EXPECT_EQ(edge_format_of_name("web.txt"), automatic);
  EXPECT_EQ(edge_format_of_name("-"), automatic);
  EXPECT_EQ(edge_format_of_name(".gz"), automatic);
}

TEST(edge_format, is_recognised_by_the_first_bytes) {
  using namespace std::string_view_literals;
  EXPECT_EQ(edge_format_of_bytes("%%MatrixMarket matrix"), matrix_market);
  EXPECT_EQ(edge_format_of_bytes("# a, b\n\n1 2\n3,4\n"), text);
  EXPECT_EQ(edge_format_of_bytes("# a\n1,2\n"), csv);
  EXPECT_EQ(edge_format_of_bytes("\"from\";\"to\"\n"), csv);
  EXPECT_EQ(edge_format_of_bytes(""), text);
  EXPECT_EQ(edge_format_of_bytes("1 2"), text);
  EXPECT_EQ(edge_format_of_bytes("1 2\0"sv), std::nullopt);
}

TEST(edge_format, looks_for_a_line_that_is_no_comment) {
  EXPECT_EQ(detail::first_data_line("\n # x\n\t%y\n a b\nc\n"), " a b");
  EXPECT_EQ(detail::first_data_line("# x\n a b"), std::nullopt);
  EXPECT_EQ(detail::first_data_line("# x\n"), std::nullopt);
}

}  // namespace
}  // namespace user_code
