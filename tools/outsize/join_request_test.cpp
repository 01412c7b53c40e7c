// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

#include <tools/outsize/join_request.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <tools/outsize/options.hpp>

namespace outsize::tool {
namespace {

join_request read(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), std::string("join"));
  std::vector<char*> argv;
  for (auto& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  return read_join_request(static_cast<int>(arguments.size()), argv.data()).value();
}

TEST(join_request, reads_fields_and_files) {
  auto const request = read({"a", "-", "-1", "2", "-2", "3", "-t,", "-i", "-z", "-e", "x"});
  EXPECT_EQ(request.paths.first, "a");
  EXPECT_EQ(request.paths.second, "-");
  EXPECT_EQ(request.join.first_field, 1U);
  EXPECT_EQ(request.join.second_field, 2U);
  EXPECT_EQ(request.join.separator, ',');
  EXPECT_EQ(request.join.delimiter, '\0');
  EXPECT_EQ(request.join.filler, "x");
  EXPECT_TRUE(request.join.fold && request.join.paired);
  EXPECT_EQ(read({"-j5", "a", "b"}).join.second_field, 4U);
  EXPECT_EQ(read({"-t", "", "a", "b"}).join.separator, '\n');
  EXPECT_EQ(read({"-t", "\\0", "a", "b"}).join.separator, '\0');
  EXPECT_FALSE(read({"-v1", "a", "b"}).join.paired);
}

TEST(join_request, reads_how_csv_is_written) {
  EXPECT_FALSE(read({"a", "b"}).join.csv);
  EXPECT_EQ(read({"--csv", "a", "b"}).join.csv, csv_format{});
  EXPECT_EQ(read({"--tsv", "a", "b"}).join.csv, csv_format{.separator = '\t'});
  EXPECT_EQ(read({"--csv", "-t;", "a", "b"}).join.csv, csv_format{.separator = ';'});
}

TEST(join_request, reads_columns) {
  auto const columns = parse_columns("0,1.2 2.10");
  ASSERT_EQ(columns.size(), 3U);
  EXPECT_EQ(columns[0].file, text::join_column::join_field);
  EXPECT_EQ(columns[1].file, 1);
  EXPECT_EQ(columns[2].field, 9U);
  EXPECT_EQ(read({"-o", "0", "-o1.1", "a", "b"}).join.columns.size(), 2U);
  EXPECT_TRUE(read({"-oauto", "a", "b"}).join.columns_of_first_lines);
  auto const both = read({"-o", "0", "-oauto", "a", "b"}).join;
  EXPECT_TRUE(both.columns.size() == 1 && !both.columns_of_first_lines);
}

TEST(join_request, takes_columns_in_several_words) {
  auto const request = read({"-o", "1.1", "2.2", "0 1.3", "a", "b"});
  ASSERT_EQ(request.join.columns.size(), 4U);
  EXPECT_EQ(request.join.columns[3].field, 2U);
  EXPECT_EQ(request.paths.first, "a");
  EXPECT_EQ(request.paths.second, "b");
  auto const files = read({"-o", "0", "1.1", "2.2"});
  EXPECT_EQ(files.join.columns.size(), 1U);
  EXPECT_EQ(files.paths.first, "1.1");
  EXPECT_EQ(read({"-o", "0", "1.1", "--", "a", "b"}).join.columns.size(), 2U);
}

TEST(join_request, refuses_what_makes_no_sense) {
  for (std::vector<std::string> const& arguments :
       std::vector<std::vector<std::string>>{{"a"},
                                             {"a", "b", "c"},
                                             {"-o", "0", "a", "b", "1.1"},
                                             {"1.1", "a", "b"},
                                             {"-", "-"},
                                             {"-1", "0", "a", "b"},
                                             {"-1", "x", "a", "b"},
                                             {"-1", "1", "-j", "2", "a", "b"},
                                             {"-t", "ab", "a", "b"},
                                             {"-t,", "-t;", "a", "b"},
                                             {"-a", "3", "a", "b"},
                                             {"-o", "1", "a", "b"},
                                             {"-o", "3.1", "a", "b"},
                                             {"-o", "1.0", "a", "b"},
                                             {"-o", "", "a", "b"},
                                             {"--csv", "-z", "a", "b"},
                                             {"--csv", "-t", "", "a", "b"},
                                             {"--tsv", "-t,", "a", "b"},
                                             {"-e", "x", "-e", "y", "a", "b"}})
    EXPECT_THROW(read(arguments), usage_error) << arguments[0];
}

}  // namespace
}  // namespace outsize::tool
