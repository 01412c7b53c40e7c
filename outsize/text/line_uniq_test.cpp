// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Groups of equal neighbours, by hand; the comparison with uniq(1) is in tests/tool.
#include <outsize/text/line_uniq.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::text {
namespace {

using mark = uniq_options::mark;

class line_uniq : public ::testing::Test {
 protected:
  std::string of(std::string const& text, uniq_options const& options) {
    scratch::write_file(dir_.path("in"), text);
    report_ = uniq_lines(store_, dir_.path("in"), dir_.path("out"), options);
    return scratch::read_file(dir_.path("out"));
  }

  scratch::directory dir_;
  storage store_{{.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = 1}};
  sort_report report_;
};

constexpr char const* text = "a\nb\nb\nc\nd\nd\nd";

TEST_F(line_uniq, writes_one_line_of_each_group) {
  EXPECT_EQ(of(text, {}), "a\nb\nc\nd\n");
  EXPECT_EQ(report_.items, 7U);
  EXPECT_EQ(report_.output_items, 4U);
  EXPECT_EQ(of("", {}), "");
  EXPECT_EQ(of("a\na\n", {.lines = '\0'}), std::string("a\na\n\0", 5));
}

TEST_F(line_uniq, chooses_groups_by_their_size) {
  EXPECT_EQ(of(text, {.count = true}), "      1 a\n      2 b\n      1 c\n      3 d\n");
  EXPECT_EQ(of(text, {.only_repeated = true}), "b\nd\n");
  EXPECT_EQ(of(text, {.only_single = true}), "a\nc\n");
  EXPECT_EQ(of(text, {.only_repeated = true, .only_single = true}), "");
  EXPECT_EQ(of(text, {.all_repeated = true}), "b\nb\nd\nd\nd\n");
  EXPECT_EQ(of(text, {.all_repeated = true, .only_single = true}), "b\nd\nd\n");
}

TEST_F(line_uniq, sets_groups_apart) {
  EXPECT_EQ(of(text, {.all_repeated = true, .marks = mark::separate}), "b\nb\n\nd\nd\nd\n");
  EXPECT_EQ(of(text, {.all_repeated = true, .marks = mark::prepend}), "\nb\nb\n\nd\nd\nd\n");
  EXPECT_EQ(of("a\nb\nb", {.all_lines = true, .marks = mark::separate}), "a\n\nb\nb\n");
  EXPECT_EQ(of("a\nb\nb", {.all_lines = true, .marks = mark::append}), "a\n\nb\nb\n\n");
  EXPECT_EQ(of("a\nb\nb", {.all_lines = true, .marks = mark::prepend}), "\na\n\nb\nb\n");
  EXPECT_EQ(of("a\nb\nb", {.all_lines = true, .marks = mark::both}), "\na\n\nb\nb\n\n");
}

TEST_F(line_uniq, compares_what_it_is_told) {
  EXPECT_EQ(of("1 a x\n2 a y\n3 b y\n", {.skip_fields = 1, .most_bytes = 2}), "1 a x\n3 b y\n");
  EXPECT_EQ(of("xa\nya\nyb\n", {.skip_bytes = 1}), "xa\nyb\n");
  EXPECT_EQ(of("Ab\naB\nc\n", {.fold = true}), "Ab\nc\n");
  EXPECT_EQ(of("a\nb\n", {.skip_fields = uniq_options::to_end_of_line}), "a\n");
}

TEST_F(line_uniq, takes_records_of_csv_and_headers) {
  line_format csv;
  csv.csv = csv_format{};
  std::string const records = "\"a\n\",1\n\"a\n\",1\n\"a,\n\",1\n";
  EXPECT_EQ(of(records, {.lines = csv}), "\"a\n\",1\n\"a,\n\",1\n");
  EXPECT_EQ(of(records, {.count = true, .lines = csv}), "2,\"a\n\",1\n1,\"a,\n\",1\n");
  EXPECT_EQ(of(records, {.skip_fields = 1, .lines = csv}), "\"a\n\",1\n");
  csv.header = true;
  EXPECT_EQ(of(records, {.count = true, .lines = csv}),
            "count,\"a\n\",1\n1,\"a\n\",1\n1,\"a,\n\",1\n");
  csv.header = false;
  using enum uniq_options::mark;
  std::string const with_cr = "a\r\na\r\nb\r\n";
  EXPECT_EQ(of(with_cr, {.all_lines = true, .marks = both, .lines = csv}),
            "\r\na\r\na\r\n\r\nb\r\n\r\n");
  EXPECT_EQ(of(with_cr, {.all_repeated = true, .marks = prepend, .lines = csv}), "\r\na\r\na\r\n");
  line_format named;
  named.header = true;
  EXPECT_EQ(of("a\na\na\n", {.lines = named}), "a\na\n");
  EXPECT_EQ(of("a\na\na\n", {.count = true, .lines = named}), "  count a\n      2 a\n");
  EXPECT_EQ(of("", {.count = true, .lines = named}), "");
  EXPECT_THROW(of("a,\"b\n", {.lines = csv}), format_error);
}

TEST_F(line_uniq, refuses_what_excludes_each_other_and_lines_that_are_too_long) {
  EXPECT_THROW(of(text, {.count = true, .all_repeated = true}), std::invalid_argument);
  EXPECT_THROW(of(text, {.only_single = true, .all_lines = true}), std::invalid_argument);
  std::filesystem::remove(dir_.path("out"));
  EXPECT_THROW(of(std::string(1'000'000, 'x'), {}), budget_error);
  EXPECT_FALSE(std::filesystem::exists(dir_.path("out")));
}

}  // namespace
}  // namespace outsize::text
