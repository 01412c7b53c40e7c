// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Joins against two nested loops, with groups that stay in memory and groups that do not; the
// comparison with join(1) is in tests/tool.
#include <outsize/text/line_join.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::text {
namespace {

struct row {
  std::string key;
  std::string rest;
};
using rows = std::vector<row>;

rows random_rows(std::size_t count, std::size_t keys, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  rows made(count);
  for (auto& one : made)
    one = {fmt::format("{:06}", random() % keys), fmt::format("{}", random() % 1000)};
  return made;
}

void sort_rows(rows& made) { std::ranges::stable_sort(made, {}, &row::key); }

std::string joined(rows const& made) {
  std::string text;
  for (auto const& one : made) text += one.key + " " + one.rest + "\n";
  return text;
}

/// Pairs only; both sorted.
std::string model(rows const& first, rows const& second) {
  std::string text;
  for (auto const& a : first) {
    auto const [begin, end] = std::ranges::equal_range(second, a.key, {}, &row::key);
    for (auto b = begin; b != end; ++b) text += a.key + " " + a.rest + " " + b->rest + "\n";
  }
  return text;
}

class line_join : public ::testing::Test {
 protected:
  std::string of(std::string const& first, std::string const& second, join_options const& join) {
    scratch::write_file(dir_.path("first"), first);
    scratch::write_file(dir_.path("second"), second);
    report_ = join_lines(store_, {dir_.path("first"), dir_.path("second"), dir_.path("out")}, join);
    EXPECT_EQ(store_.allocated_bytes(), 0U);
    return scratch::read_file(dir_.path("out"));
  }

  scratch::directory dir_;
  storage store_{{.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = 2}};
  sort_report report_;
};

constexpr char const* first_file = "a 1\nb 2\nb 3\nd 4\n";
constexpr char const* second_file = "b x\nb y\nc z\nd w\n";

TEST_F(line_join, pairs_lines_of_equal_fields) {
  EXPECT_EQ(of(first_file, second_file, {}), "b 2 x\nb 2 y\nb 3 x\nb 3 y\nd 4 w\n");
  EXPECT_EQ(report_.items, 8U);
  EXPECT_EQ(report_.output_items, 5U);
  EXPECT_EQ(of("", "", {}), "");
}

TEST_F(line_join, writes_lines_without_a_partner_if_asked) {
  EXPECT_EQ(of(first_file, second_file, {.paired = false, .first_unpaired = true}), "a 1\n");
  EXPECT_EQ(of(first_file, second_file, {.paired = false, .second_unpaired = true}), "c z\n");
  EXPECT_EQ(of("a\n", "", {.second_unpaired = true}), "");
  EXPECT_EQ(of("a 1\n", "b 2\n",
               {.first_unpaired = true,
                .second_unpaired = true,
                .filler = "-",
                .columns = {{}, {1, 1}, {2, 1}}}),
            "a 1 -\nb - 2\n");
  EXPECT_EQ(of("a 1 2\nb 1\n", "c 5\n",
               {.first_unpaired = true, .filler = "-", .columns_of_first_lines = true}),
            "a 1 2 -\nb 1 - -\n");
}

TEST_F(line_join, joins_by_any_field) {
  EXPECT_EQ(of("1,a\n2,b\n", "x,y,b\n", {.first_field = 1, .second_field = 2, .separator = ','}),
            "b,2,x,y\n");
  EXPECT_EQ(of("A 1\n", "a 2\n", {.fold = true}), "A 1 2\n");
  EXPECT_EQ(of("k v\na 1\n", "kk w\na 2\n", {.header = true}), "k v w\na 1 2\n");
}

TEST_F(line_join, joins_csv_by_values) {
  csv_format const csv;
  std::string const first = "k,v\r\n\"a\nb\",1\r\nc,\"x,\"\"y\"\r\n";
  EXPECT_EQ(of(first, "k,w\n\"a\nb\",2\n\"c\",\"\"\n", {.header = true, .csv = csv}),
            "k,v,w\r\n\"a\nb\",1,2\r\nc,\"x,\"\"y\",\r\n");
  EXPECT_EQ(of("b,1\na,2\n", "\"b\",3\n\"a\",\"\"\n", {.filler = ",", .sort = true, .csv = csv}),
            "a,2,\",\"\nb,1,3\n");
  EXPECT_EQ(of("A;1\n", "\"a\";2\n", {.fold = true, .csv = csv_format{.separator = ';'}}),
            "A;1;2\n");
  EXPECT_EQ(of("a\nk,x\r,y\n", "k\n", {.columns = {{}, {1, 1}}, .csv = csv}), "k,\"x\r\"\n");
  EXPECT_EQ(of("a\n", "b\n", {.first_unpaired = true, .columns = {{}, {2, 3}}, .csv = csv}),
            "a,\n");
}

TEST_F(line_join, refuses_csv_that_is_malformed_or_not_sorted) {
  auto const failure = [&](std::string const& text,
                           join_options const& join = {.csv = csv_format{}}) {
    try {
      of(text, "c,1\n", join);
    } catch (format_error const& e) {
      return std::string(e.what()).substr(dir_.path("first").size());
    }
    return std::string("none");
  };
  EXPECT_EQ(failure("a,1\n", {.first_field = 2, .csv = csv_format{}}),
            ":1: a key is field 3, but there are only 2");
  EXPECT_EQ(failure("a,\"1\n\"x\n"), ":2:2: a quoted field goes on behind its quote");
  EXPECT_EQ(failure("a\n\"b\n\"\nz\n\"a\nb\"\n"), ":5: is not sorted: \"a");
}

TEST_F(line_join, sorts_its_inputs_if_asked) {
  for (std::size_t const count : {0, 1, 100, 100'000}) {
    auto first = random_rows(count, count, 1);
    auto second = random_rows(count, count, 2);
    auto const text = "key first\n" + joined(first);
    auto const other = "key second\n" + joined(second);
    sort_rows(first);
    sort_rows(second);
    EXPECT_TRUE(of(text, other, {.header = true, .sort = true}) ==
                "key first second\n" + model(first, second));
    EXPECT_EQ(report_.runs > 0, count == 100'000);
    EXPECT_EQ(report_.networks.size(), 4U) << "run formation and last merge of both inputs";
  }
}

TEST_F(line_join, takes_groups_that_do_not_fit_in_memory) {
  rows first = random_rows(3, 1, 1);
  rows second = random_rows(50'000, 1, 2);
  for (auto& one : second) one.rest += std::string(30, 'x');
  EXPECT_TRUE(of(joined(first), joined(second), {}) == model(first, second));
  EXPECT_GT(report_.peak_disk_bytes, 0U);
}

TEST_F(line_join, names_the_line_that_is_not_in_order) {
  std::string const unsorted = "a 1\nc 2\nb 3\n";
  EXPECT_EQ(of(unsorted, "a 1\nc 2\nb 3\n", {}), "a 1 1\nc 2 2\nb 3 3\n");
  EXPECT_EQ(of(unsorted, "0\na 1\n", {.check = join_options::order_check::never}), "a 1 1\n");
  for (auto const& [second, check] :
       {std::pair("a 1\n", join_options::order_check::always),
        std::pair("0\na 1\n", join_options::order_check::with_unpaired)}) {
    try {
      of(unsorted, second, {.check = check});
      FAIL() << "an unsorted file was joined";
    } catch (format_error const& e) {
      EXPECT_EQ(e.what(), dir_.path("first") + ":3: is not sorted: b 3");
    }
  }
}

TEST_F(line_join, leaves_nothing_when_it_fails) {
  EXPECT_THROW(join_lines(store_, {dir_.path("none"), dir_.path("none"), dir_.path("out")}),
               io_error);
  EXPECT_THROW(of("a\n" + std::string(1'000'000, 'b'), "a\n", {}), budget_error);
  EXPECT_EQ(dir_.names(), (std::vector<std::string>{"first", "second"}));
}

}  // namespace
}  // namespace outsize::text
