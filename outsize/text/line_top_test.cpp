// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The first lines against a whole sort; the comparison with `sort | head` is in tests/tool.
#include <outsize/text/line_top.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/scratch_directory.hpp>
#include <outsize/text/line_sort.hpp>

namespace outsize::text {
namespace {

class line_top : public ::testing::Test {
 protected:
  void SetUp() override {
    std::mt19937_64 random(5);
    std::string lines;
    for (int i = 0; i < 60'000; ++i)
      lines += std::string(random() % 30, 'a') + "\t" + std::to_string(random() % 5000) + "\n";
    scratch::write_file(dir_.path("in"), lines);
  }

  std::string sorted(line_order const& order, std::uint64_t count, bool unique) {
    sort_lines(store_, {{dir_.path("in")}, dir_.path("sorted")}, order, '\n', {.unique = unique});
    std::string text = scratch::read_file(dir_.path("sorted"));
    std::size_t end = 0;
    for (; count > 0 && end < text.size(); --count) end = text.find('\n', end) + 1;
    return text.substr(0, end);
  }

  scratch::directory dir_;
  storage store_{{.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = 2}};
};

TEST_F(line_top, is_the_beginning_of_the_sorted_lines) {
  std::size_t combination = 0;
  for (bool const unique : {false, true}) {
    line_order const by_number({.keys = {parse_key("2n")}, .unique = unique});
    for (auto const& order : {line_order({}), by_number}) {
      for (std::uint64_t const count : {0, 1, 100, 3000, 30'000, 100'000}) {
        if (combination++ % scratch::one_of(5) != 0) continue;
        auto const report = top_lines(store_, {{dir_.path("in")}, dir_.path("out")}, order,
                                      {.count = count}, {.unique = unique});
        EXPECT_EQ(report.items, 60'000U);
        if (count <= 1000) {
          EXPECT_EQ(report.runs, 0U) << count;
        } else if (count > 50'000 && !unique) {
          EXPECT_GT(report.runs, 0U) << count;
        }
        EXPECT_TRUE(scratch::read_file(dir_.path("out")) == sorted(order, count, unique)) << count;
      }
    }
  }
}

TEST_F(line_top, leaves_nothing_when_it_fails) {
  EXPECT_THROW(top_lines(store_, {{dir_.path("in"), dir_.path("none")}, dir_.path("out")},
                         line_order({}), {.count = 3}),
               io_error);
  scratch::write_file(dir_.path("in"), std::string(1'000'000, 'x'));
  EXPECT_THROW(top_lines(store_, {{dir_.path("in")}, dir_.path("out")}, line_order({})),
               budget_error);
  scratch::write_file(dir_.path("in"), "a,b\nc\n");
  line_format records;
  records.csv = csv_format{};
  line_key const second{.begin_field = 1, .end_field = 1};
  EXPECT_THROW(top_lines(store_, {{dir_.path("in")}, dir_.path("out")},
                         line_order({.keys = {second}, .csv = csv_format{}}),
                         {.count = 3, .lines = records}),
               format_error);
  EXPECT_EQ(dir_.names(), std::vector<std::string>{"in"});
  EXPECT_EQ(store_.allocated_bytes(), 0U);
}

}  // namespace
}  // namespace outsize::text
