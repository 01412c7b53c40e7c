// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Lines of several files in, text out, and a division of memory that adds up.
#include <outsize/text/detail/line_files.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::detail {
namespace {

class line_streams : public ::testing::Test {
 protected:
  scratch::directory dir_;
  storage store_{{.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = 1}};
};

TEST_F(line_streams, divide_no_more_memory_than_there_is) {
  for (std::size_t const inputs : {1, 2}) {
    auto const division = divide_for_lines(store_, {}, {}, inputs);
    EXPECT_EQ(division.stream_bytes + division.work_bytes, store_.memory().total_bytes());
    EXPECT_GT(division.work_bytes, store_.memory().total_bytes() / 2);
  }
  EXPECT_THROW(divide_for_lines(store_, {}, {.memory_bytes = 1_MiB}), budget_error);
  EXPECT_THROW(divide_for_lines(store_, {}, {.memory_bytes = 64_KiB, .block_bytes = 4_KiB}),
               budget_error);
}

TEST_F(line_streams, are_read_one_after_the_other) {
  scratch::write_file(dir_.path("a"), "1\n\n2");
  scratch::write_file(dir_.path("b"), "");
  scratch::write_file(dir_.path("c"), "3\n");
  auto const division = divide_for_lines(store_, {}, {});
  grant memory = store_.memory().take(division.stream_bytes, "test");
  line_input in(store_, memory, division, {{dir_.path("a"), dir_.path("b"), dir_.path("c")}, '\n'});
  std::vector<std::string> lines;
  while (auto const line = in.next()) lines.emplace_back(*line);
  EXPECT_EQ(lines, (std::vector<std::string>{"1", "", "2", "3"}));
  EXPECT_EQ(in.path(), dir_.path("c"));
  EXPECT_EQ(in.number_of("3"), 1U);
  EXPECT_EQ(in.line_bytes(), 7U);
}

TEST_F(line_streams, number_records_by_the_lines_they_begin_in) {
  scratch::write_file(dir_.path("a"), "h,\"\n\"\nb,\"\n\n\"\nc\n");
  scratch::write_file(dir_.path("b"), "h,\"\n\"\ne\n");
  auto const division = divide_for_lines(store_, {}, {});
  for (bool const header : {false, true}) {
    grant memory = store_.memory().take(division.stream_bytes, "test");
    line_format format;
    format.csv = csv_format{};
    format.header = header;
    line_input in(store_, memory, division, {{dir_.path("a"), dir_.path("b")}, format});
    std::vector<std::uint64_t> numbers;
    auto const note_next = [&] { numbers.push_back(in.number_of(in.next().value())); };
    if (!header) note_next();
    note_next();
    note_next();
    EXPECT_EQ(numbers,
              header ? (std::vector<std::uint64_t>{3, 6}) : (std::vector<std::uint64_t>{1, 3, 6}));
  }
}

TEST_F(line_streams, end_when_they_are_stopped) {
  scratch::write_file(dir_.path("few"), "1\n2\n");
  scratch::write_file(dir_.path("many"), std::string(100'000, '\n'));
  for (std::string const first : {"few", "many"}) {
    std::stop_source stopping;
    auto const division = divide_for_lines(store_, {}, {.stop = stopping.get_token()});
    grant memory = store_.memory().take(division.stream_bytes, "test");
    line_input in(store_, memory, division, {{dir_.path(first), dir_.path("many")}, {}});
    EXPECT_TRUE(in.next());
    stopping.request_stop();
    auto const read_all = [&] {
      while (in.next()) {
      }
    };
    EXPECT_THROW(read_all(), cancelled);
    EXPECT_EQ(in.path(), dir_.path(first));
    EXPECT_LT(in.number_of(""), 10'000U);
  }
}

TEST_F(line_streams, appear_when_they_are_complete) {
  auto const division = divide_for_lines(store_, {}, {});
  for (bool const complete : {false, true}) {
    grant memory = store_.memory().take(division.stream_bytes, "test");
    line_output out(store_, memory, division, dir_.path("out"));
    out.put("a ");
    out.put_line("line", '\0');
    if (complete) out.finish();
    EXPECT_EQ(std::filesystem::exists(dir_.path("out")), complete);
  }
  EXPECT_EQ(scratch::read_file(dir_.path("out")), std::string("a line\0", 7));
}

}  // namespace
}  // namespace outsize::detail
