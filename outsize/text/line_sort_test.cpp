// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// Sorting and merging files of lines against std::stable_sort; the comparison with sort(1) is in
// tests/tool.

#include <outsize/text/line_sort.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/testing/scratch_directory.hpp>
#include <outsize/text/csv_field.hpp>

namespace outsize::text {
namespace {

std::vector<std::string> random_lines(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> lines(count);
  for (auto& line : lines) {
    line = std::string(random() % 60, 'a') + "\t" + std::to_string(random() % 500);
    if (random() % 10 == 0) line.clear();
  }
  return lines;
}

std::string joined(std::vector<std::string> const& lines, char end) {
  std::string text;
  for (auto const& line : lines) text += line + end;
  return text;
}

std::vector<std::string> sorted(std::vector<std::string> lines, line_order const& order) {
  std::stable_sort(lines.begin(), lines.end(),
                   [&](auto const& a, auto const& b) { return order.compare(a, b) < 0; });
  return lines;
}

class line_files : public ::testing::Test {
 protected:
  scratch::directory dir_;
  storage store_{{.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = 3}};
};

TEST_F(line_files, are_sorted_in_every_order_and_direction) {
  for (std::size_t count : {0, 1, 5, 120'000}) {
    for (bool const by_number : {false, true}) {
      for (bool const reverse : {false, true}) {
        line_order_options options;
        options.global.reverse = reverse;
        if (by_number) options.keys.push_back(parse_key("2n"));
        line_order const order(options);
        auto const lines = random_lines(count, count + 1);
        auto text = joined(lines, '\n');
        if (!text.empty() && !lines.back().empty())
          text.pop_back();  // the last one without its end
        scratch::write_file(dir_.path("in"), text);
        auto const report = sort_lines(store_, {{dir_.path("in")}, dir_.path("out")}, order);
        EXPECT_EQ(report.items, count);
        EXPECT_EQ(report.runs > 1, count > 1000);
        EXPECT_TRUE(scratch::read_file(dir_.path("out")) == joined(sorted(lines, order), '\n'))
            << count << " lines";
      }
    }
  }
}

TEST_F(line_files, onto_themselves_with_another_delimiter) {
  line_order const order({});
  auto const lines = random_lines(60'000, 5);
  scratch::write_file(dir_.path("in"), joined(lines, '\0'));
  sort_lines(store_, {{dir_.path("in")}, dir_.path("in")}, order, '\0');
  EXPECT_TRUE(scratch::read_file(dir_.path("in")) == joined(sorted(lines, order), '\0'));
}

TEST_F(line_files, lose_repeated_lines_when_asked) {
  line_order_options by_number;
  by_number.keys.push_back(parse_key("2n"));
  by_number.unique = true;
  line_order const order(by_number);
  auto const lines = random_lines(100'000, 9);
  scratch::write_file(dir_.path("in"), joined(lines, '\n'));
  auto const report =
      sort_lines(store_, {{dir_.path("in")}, dir_.path("out")}, order, '\n', {.unique = true});
  auto want = sorted(lines, order);
  want.erase(std::unique(want.begin(), want.end(),
                         [&](auto const& a, auto const& b) { return order.equal_keys(a, b); }),
             want.end());
  EXPECT_EQ(report.output_items, want.size());
  EXPECT_TRUE(scratch::read_file(dir_.path("out")) == joined(want, '\n'));
}

/// Though it is not known before they come how long they are, and so how many fill a chunk.
TEST_F(line_files, stay_in_memory_in_the_last_chunks) {
  line_order const order({});
  for (std::size_t const most : {300, 1000}) {
    SCOPED_TRACE(most);
    std::mt19937_64 random(most);
    std::vector<std::string> lines(12'000'000 / most);
    for (auto& line : lines)
      line = std::to_string(random()).substr(0, most) + std::string(random() % most, 'a');
    scratch::write_file(dir_.path("in"), joined(lines, '\n'));
    auto const report = sort_lines(store_, {{dir_.path("in")}, dir_.path("out")}, order);
    EXPECT_EQ(report.items, lines.size());
    EXPECT_LT(report.run_items, report.items);
    EXPECT_EQ(report.passes, 1U);
    EXPECT_TRUE(scratch::read_file(dir_.path("out")) == joined(sorted(lines, order), '\n'));
  }
}

/// On disk each has an entry in the table of its block, several times as long.
TEST_F(line_files, of_a_byte_fill_more_blocks_than_they_have_bytes) {
  line_order const order({});
  for (std::size_t const most : {1, 2}) {
    std::mt19937_64 random(most);
    std::vector<std::string> lines(3'000'000);
    for (auto& line : lines) line = std::to_string(random()).substr(0, most);
    scratch::write_file(dir_.path("in"), joined(lines, '\n'));
    sort_lines(store_, {{dir_.path("in")}, dir_.path("out")}, order);
    EXPECT_TRUE(scratch::read_file(dir_.path("out")) == joined(sorted(lines, order), '\n'));
  }
}

TEST_F(line_files, are_merged) {
  line_order const order({});
  for (std::size_t const files : {1, 3, 700}) {
    std::vector<std::string> all;
    sort_paths paths{{}, dir_.path("out")};
    for (std::size_t i = 0; i < files; ++i) {
      auto const part = sorted(random_lines(20'000 / files, i), order);
      paths.inputs.push_back(dir_.path(std::to_string(i)));
      scratch::write_file(paths.inputs.back(), joined(part, '\n'));
      all.insert(all.end(), part.begin(), part.end());
    }
    auto const report = merge_lines(store_, paths, order);
    EXPECT_EQ(report.items, all.size());
    EXPECT_TRUE(scratch::read_file(dir_.path("out")) == joined(sorted(all, order), '\n')) << files;
  }
}

TEST_F(line_files, are_not_merged_any_further_once_that_is_stopped) {
  sort_paths paths{{}, dir_.path("out")};
  for (std::size_t i = 0; i < 3; ++i) {
    paths.inputs.push_back(dir_.path(std::to_string(i)));
    scratch::write_file(paths.inputs.back(), std::string(50'000, '\n'));
  }
  std::stop_source stopping;
  sort_options options{.stop = stopping.get_token()};
  options.on_progress = [&](sort_progress const&) { stopping.request_stop(); };
  EXPECT_THROW(merge_lines(store_, paths, line_order({}), {}, options), cancelled);
  EXPECT_FALSE(std::filesystem::exists(dir_.path("out")));
}

TEST_F(line_files, with_a_line_longer_than_the_memory_are_refused_with_both_sizes) {
  scratch::write_file(dir_.path("in"), "short\n" + std::string(5'000'000, 'x') + "\nshort\n");
  try {
    sort_lines(store_, {{dir_.path("in")}, dir_.path("out")}, line_order({}));
    FAIL() << "a line of 5 MB was sorted with 2 MiB";
  } catch (budget_error const& e) {
    std::string const what = e.what();
    EXPECT_NE(what.find("5000000"), std::string::npos) << what;
    EXPECT_NE(what.find("2097152"), std::string::npos) << what;
  }
  EXPECT_FALSE(std::filesystem::exists(dir_.path("out")));
}

TEST_F(line_files, of_csv_and_compressed_keep_their_header_first) {
  line_order_options by_value{.csv = csv_format{}};
  by_value.keys.push_back(one_field_key(parse_key("2n")));
  line_order const order(by_value);
  line_format format;
  format.csv = by_value.csv;
  format.header = true;
  std::mt19937_64 random(11);
  std::vector<std::string> records(60'000);
  for (auto& record : records)
    record =
        "\"a,\n\"\"" + std::string(random() % 40, 'b') + "\"," + std::to_string(random() % 999);
  scratch::write_file(dir_.path("in"), "\"na\nme\",value\n" + joined(records, '\n'));
  auto const want = "\"na\nme\",value\n" + joined(sorted(records, order), '\n');

  sort_lines(store_, {{dir_.path("in")}, dir_.path("out")}, order, format);
  EXPECT_TRUE(scratch::read_file(dir_.path("out")) == want);
  for (auto const kind : {io::compression::gzip, io::compression::zstd, io::compression::lz4,
                          io::compression::xz, io::compression::bzip2}) {
    sort_lines(store_, {{dir_.path("in")}, dir_.path("packed")}, order, format, {.compress = kind});
    auto const report = merge_lines(store_, {{dir_.path("packed")}, dir_.path("out")}, order,
                                    format, {.decompress = true});
    EXPECT_EQ(report.items, records.size());
    EXPECT_TRUE(scratch::read_file(dir_.path("out")) == want) << io::name_of(kind);
  }
}

TEST_F(line_files, of_csv_without_a_key_are_refused) {
  line_order_options by_third{.csv = csv_format{}};
  by_third.keys = {one_field_key(parse_key("3")), one_field_key(parse_key("1"))};
  line_order const order(by_third);
  line_format format;
  format.csv = by_third.csv;
  scratch::write_file(dir_.path("out"), "as before");
  auto const failure = [&](std::string const& text, auto const& work) {
    scratch::write_file(dir_.path("in"), text);
    try {
      work();
    } catch (format_error const& e) {
      EXPECT_EQ(scratch::read_file(dir_.path("out")), "as before");
      EXPECT_EQ(std::string_view(e.what()).substr(0, dir_.path("in").size()), dir_.path("in"));
      return std::string(e.what()).substr(dir_.path("in").size());
    }
    return std::string("none");
  };
  auto const sorting = [&] {
    sort_lines(store_, {{dir_.path("in")}, dir_.path("out")}, order, format);
  };
  auto const merging = [&] {
    merge_lines(store_, {{dir_.path("in")}, dir_.path("out")}, order, format);
  };
  EXPECT_EQ(failure("a,b,c\n\"d\ne\",f,g\nh,\"i,j\"\n", sorting),
            ":4: a key is field 3, but there are only 2");
  EXPECT_EQ(failure("a,b,c\nx\r\n", merging), ":2: a key is field 3, but there is only 1");
  format.header = true;
  EXPECT_EQ(failure("a,b\nx,y,z\n", sorting), ":1: a key is field 3, but there are only 2");
  format.header = false;
  EXPECT_EQ(failure("x,y,\n\n\r\na,b,c,d\n", sorting), "none");  // empty records may be
  EXPECT_EQ(scratch::read_file(dir_.path("out")), "\n\r\nx,y,\na,b,c,d\n");
}

}  // namespace
}  // namespace outsize::text
