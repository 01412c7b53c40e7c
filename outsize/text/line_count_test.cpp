// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Groups against std::map, few that stay in memory and many that do not; the comparison with
// `sort | uniq -c` is in tests/tool.
#include <outsize/text/line_count.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/scratch_directory.hpp>
#include <outsize/text/csv_field.hpp>

namespace outsize::text {
namespace {

class line_count : public ::testing::Test {
 protected:
  std::string of(std::string const& text, line_order_options const& order,
                 count_lines_options const& groups = {}) {
    scratch::write_file(dir_.path("in"), text);
    report_ = count_lines(store_, {{dir_.path("in")}, dir_.path("out")}, order, groups);
    EXPECT_EQ(store_.allocated_bytes(), 0U);
    return scratch::read_file(dir_.path("out"));
  }

  scratch::directory dir_;
  storage store_{{.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = 2}};
  sort_report report_;
};

TEST_F(line_count, counts_lines_and_keys) {
  EXPECT_EQ(of("", {}), "");
  EXPECT_EQ(of("b\na\nb", {}), "      1 a\n      2 b\n");
  EXPECT_EQ(of("b\na\nb", {.global = {.reverse = true}}), "      2 b\n      1 a\n");
  EXPECT_EQ(of("x,2\ny,1\nz,2\n", {.separator = ',', .keys = {parse_key("2,2")}}),
            "      1 1\n      2 2\n");
  EXPECT_EQ(
      of("x,2,a\ny,1,a\nz,2,a\n", {.separator = ',', .keys = {parse_key("3,3"), parse_key("2,2")}}),
      "      1 a,1\n      2 a,2\n");
}

TEST_F(line_count, shows_the_first_of_keys_that_are_equal_but_look_different) {
  EXPECT_EQ(of("b\nA\nB\na\nb\n", {.global = {.fold = true}}), "      2 A\n      3 b\n");
  EXPECT_EQ(of("x 01\nx 1\nx 2\n", {.keys = {parse_key("2n")}}), "      2  01\n      1  2\n");
}

TEST_F(line_count, refuses_csv_without_a_key) {
  count_lines_options groups;
  groups.lines.csv = csv_format{};
  line_order_options const order{.keys = {one_field_key(parse_key("2"))}, .csv = csv_format{}};
  EXPECT_THROW(of("a,1\nb\n", order, groups), format_error);
  EXPECT_EQ(of("a,1\n\n", order, groups), "1,\n1,1\n");
}

TEST_F(line_count, counts_values_of_csv_and_names_them) {
  count_lines_options groups;
  groups.lines.csv = csv_format{};
  line_order_options order{.keys = {one_field_key(parse_key("2"))}, .csv = csv_format{}};
  EXPECT_EQ(of("x,\"a,\nb\"\r\ny,\"c\"\r\nz,c\r\n", order, groups), "1,\"a,\nb\"\r\n2,c\r\n");
  EXPECT_EQ(of("\"a\"\na\na\n", {.csv = csv_format{}}, groups), "1,\"a\"\n2,a\n");
  groups.lines.header = true;
  EXPECT_EQ(of("x,\"n\"\"\"\ny,\"c\"\n", order, groups), "count,\"n\"\"\"\n1,c\n");
  EXPECT_EQ(of("x,n\r\ny,c\r\n", order, groups), "count,n\r\n1,c\r\n");
  EXPECT_EQ(of("x,n\r\n", order, groups), "count,n\r\n");
  EXPECT_EQ(of("x\r\ny\r\n", {.csv = csv_format{}}, groups), "count,x\r\n1,y\r\n");
  EXPECT_EQ(of("", order, groups), "");
  EXPECT_THROW(of("a,b\n\"c", order, groups), format_error);
  groups.lines = {};
  groups.lines.header = true;
  EXPECT_EQ(of("b\na\nb\n", {}, groups), "  count b\n      1 a\n      1 b\n");
}

TEST_F(line_count, puts_the_largest_group_first_if_asked) {
  EXPECT_EQ(of("c\na\nb\nb\nd\na\n", {}, {.by_count = true}),
            "      2 a\n      2 b\n      1 c\n      1 d\n");
}

TEST_F(line_count, agrees_with_a_map_whether_or_not_groups_fit_in_memory) {
  for (std::size_t const different : {10, 1000, 60'000}) {
    std::mt19937_64 random(different);
    std::string text;
    std::map<std::string, std::uint64_t> model;
    for (int i = 0; i < 150'000; ++i) {
      auto const line = fmt::format("{:0>{}}", random() % different, 20 + different % 7);
      ++model[line];
      text += line + "\n";
    }
    std::vector<std::pair<std::string, std::uint64_t>> groups(model.begin(), model.end());
    for (bool const by_count : {false, true}) {
      if (by_count)
        std::ranges::stable_sort(groups, std::ranges::greater(),
                                 &std::pair<std::string, std::uint64_t>::second);
      std::string expected;
      for (auto const& [line, count] : groups) expected += fmt::format("{:7} {}\n", count, line);
      EXPECT_TRUE(of(text, {}, {.by_count = by_count}) == expected) << different;
      EXPECT_EQ(report_.items, 150'000U);
      EXPECT_EQ(report_.output_items, model.size());
      EXPECT_EQ(report_.runs > 0, different == 60'000);
    }
  }
}

TEST_F(line_count, leaves_nothing_when_it_fails) {
  EXPECT_THROW(of("a\n" + std::string(1'000'000, 'x'), {}), budget_error);
  EXPECT_THROW(count_lines(store_, {{dir_.path("in"), dir_.path("none")}, dir_.path("out")}, {}),
               io_error);
  EXPECT_EQ(dir_.names(), std::vector<std::string>{"in"});
}

}  // namespace
}  // namespace outsize::text
