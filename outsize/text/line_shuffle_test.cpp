// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The order is that of the lines' random numbers, in any memory and with any threads.
#include <outsize/text/line_shuffle.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::text {
namespace {

std::vector<std::string> made_lines(std::size_t count) {
  std::vector<std::string> lines(count);
  for (std::size_t i = 0; i < count; ++i) lines[i] = fmt::format("{:0>{}}", i, 10 + i % 90);
  return lines;
}

std::string joined(std::vector<std::string> const& lines) {
  std::string text;
  for (auto const& line : lines) text += line + "\n";
  return text;
}

std::vector<std::string> split(std::string const& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> model(std::vector<std::string> const& lines, random_salt const& salt) {
  std::vector<std::size_t> order(lines.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return salt.number(i); });
  std::vector<std::string> out;
  for (std::size_t const i : order) out.push_back(lines[i]);
  return out;
}

class line_shuffle : public ::testing::Test {
 protected:
  std::string of(shuffle_source const& lines, shuffle_lines_options const& order = {},
                 std::uint64_t memory_bytes = 0) {
    report_ = shuffle_lines(store_, lines, dir_.path("out"), order, {.memory_bytes = memory_bytes});
    EXPECT_EQ(store_.allocated_bytes(), 0U);
    return scratch::read_file(dir_.path("out"));
  }

  scratch::directory dir_;
  storage store_{{.disks = {dir_.path()}, .memory_bytes = 64_MiB, .threads = 3}};
  sort_report report_;
};

TEST_F(line_shuffle, gives_the_same_order_in_any_memory) {
  auto const salt = random_salt::of_seed(42);
  for (std::size_t const count : {0, 1, 2, 1000, 100'000}) {
    auto const lines = made_lines(count);
    auto const expected = model(lines, salt);
    scratch::write_file(dir_.path("in"), joined(lines));
    for (std::uint64_t const memory : {2_MiB, 3_MiB, 64_MiB}) {
      EXPECT_TRUE(of(lines_of_files{{dir_.path("in")}}, {.salt = salt}, memory) ==
                  joined(expected));
      EXPECT_EQ(report_.runs > 0, count == 100'000 && memory < 64_MiB);
      auto first = expected;
      first.resize(std::min<std::size_t>(count, 77));
      EXPECT_TRUE(of(lines_of_files{{dir_.path("in")}}, {.count = 77, .salt = salt}, memory) ==
                  joined(first));
      EXPECT_EQ(report_.runs, 0U);
    }
    EXPECT_TRUE(of(given_lines{lines}, {.salt = salt}) == joined(expected));
  }
}

TEST_F(line_shuffle, gives_every_order_of_few_lines_its_share) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    orders.insert(of(given_lines{{"a", "b", "c", "d"}}, {.salt = random_salt::of_seed(seed)}));
  EXPECT_EQ(orders.size(), 24U);
}

TEST_F(line_shuffle, puts_headers_first_and_keeps_records_of_csv_whole) {
  line_format csv;
  csv.csv = csv_format{};
  csv.header = true;
  scratch::write_file(dir_.path("in"), "name\n\"a\n\"\n\"b\n\"\n");
  lines_of_files const in{{dir_.path("in"), dir_.path("in")}};
  for (bool const repeat : {false, true}) {
    auto const out = of(in, {.count = 3, .repeat = repeat, .lines = csv});
    EXPECT_TRUE(out.starts_with("name\n\""));
    EXPECT_EQ(std::ranges::count(out, '"'), 6);
    EXPECT_EQ(report_.output_items, 3U);
  }
  EXPECT_EQ(of(in, {.count = 0, .lines = csv}), "name\n");
}

TEST_F(line_shuffle, knows_ranges_of_numbers) {
  EXPECT_EQ(of(number_range{5, 0}), "");
  EXPECT_EQ(of(number_range{~std::uint64_t{0}, 1}), "18446744073709551615\n");
  auto numbers = split(of(number_range{10, 20}));
  std::ranges::sort(numbers);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(numbers.at(i), std::to_string(10 + i));

  auto const few = split(of(number_range{1, 1'000'000'000'000}, {.count = 1000}));
  EXPECT_EQ(few.size(), 1000U);
  EXPECT_EQ(std::set<std::string>(few.begin(), few.end()).size(), 1000U);
  for (auto const& number : few) EXPECT_LE(std::stoull(number), 1'000'000'000'000ULL);
}

TEST_F(line_shuffle, repeats_lines_if_asked) {
  auto const drawn = split(of(given_lines{{"a", "b"}}, {.count = 1000, .repeat = true}));
  EXPECT_EQ(drawn.size(), 1000U);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(drawn, "a")), 500, 80);
  EXPECT_EQ(split(of(number_range{7, 3}, {.count = 50, .repeat = true})).size(), 50U);
  EXPECT_EQ(of(given_lines{}, {.count = 0, .repeat = true}), "");
  EXPECT_THROW(of(given_lines{}, {.count = 1, .repeat = true}), format_error);
}

TEST_F(line_shuffle, leaves_nothing_when_it_fails) {
  scratch::write_file(dir_.path("in"), joined(made_lines(100'000)));
  EXPECT_THROW(of(lines_of_files{{dir_.path("in")}}, {.count = 1, .repeat = true}, 2_MiB),
               budget_error);
  EXPECT_THROW(of(lines_of_files{{dir_.path("none")}}), io_error);
  EXPECT_EQ(dir_.names(), std::vector<std::string>{"in"});
}

}  // namespace
}  // namespace outsize::text
