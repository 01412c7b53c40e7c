// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

#include <tools/outsize/sort_request.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <outsize/testing/scratch_directory.hpp>

namespace outsize::tool {
namespace {

sort_request read(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), std::string("sort"));
  std::vector<char*> argv;
  for (auto& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  return read_sort_request(static_cast<int>(arguments.size()), argv.data()).value();
}

TEST(sort_request, reads_standard_input_by_default) {
  auto const request = read({});
  EXPECT_EQ(request.inputs, std::vector<std::string>{"-"});
  EXPECT_EQ(request.output, "-");
  EXPECT_EQ(request.what, sort_request::action::sort);
  EXPECT_FALSE(request.memory_bytes);
}

TEST(sort_request, counts_memory_in_the_units_of_gnu_sort) {
  EXPECT_EQ(read({"-S", "10"}).memory_bytes, 10U << 10);
  EXPECT_EQ(read({"-S2M"}).memory_bytes, 2U << 20);
  EXPECT_EQ(read({"--buffer-size=5b"}).memory_bytes, 5U);
  EXPECT_EQ(read({"--memory", "1G"}).memory_bytes, 1U << 30);
  EXPECT_GT(read({"-S", "50%"}).memory_bytes, 1U << 20);
  EXPECT_EQ(read({"-S2M"}).memory_text, "2M");
}

TEST(sort_request, refuses_what_makes_no_sense) {
  for (std::vector<std::string> const& arguments :
       std::vector<std::vector<std::string>>{{"-S", "12Q7"},
                                             {"-S", "101%"},
                                             {"--parallel", "0"},
                                             {"--parallel", "x"},
                                             {"-c", "a", "b"},
                                             {"-c", "-o", "x"},
                                             {"--check=loudly"},
                                             {"--check="},
                                             {"--batch-size=1"},
                                             {"--batch-size=x"},
                                             {"--run-codec=zip"},
                                             {"--compress-program=a", "--compress-program=b"},
                                             {"--files0-from=/dev/null"},
                                             {"--files0-from=/dev/zero", "a"},
                                             {"--debug"},
                                             {"--frobnicate"}})
    EXPECT_THROW(read(arguments), std::invalid_argument) << arguments[0];
}

TEST(sort_request, takes_further_options_of_gnu_sort) {
  EXPECT_EQ(read({"--batch-size=7"}).most_fan_in, 7U);
  EXPECT_EQ(read({"--compress-program=gzip"}).most_fan_in, 0U);
  scratch::directory dir;
  scratch::write_file(dir.path("names"), std::string_view("a\0b c", 5));
  EXPECT_EQ(read({"--files0-from", dir.path("names")}).inputs,
            (std::vector<std::string>{"a", "b c"}));
}

TEST(sort_request, says_when_runs_are_encoded) {
  EXPECT_EQ(read({}).codec, run_codec::automatic);
  EXPECT_EQ(read({"--run-codec=auto"}).codec, run_codec::automatic);
  EXPECT_EQ(read({"--run-codec", "none"}).codec, run_codec::none);
  EXPECT_EQ(read({"--run-codec", "always"}).codec, run_codec::always);
}

TEST(sort_request, knows_the_ways_to_check) {
  EXPECT_EQ(read({"-c"}).what, sort_request::action::check);
  EXPECT_EQ(read({"--check"}).what, sort_request::action::check);
  EXPECT_EQ(read({"-C"}).what, sort_request::action::check_silently);
  EXPECT_EQ(read({"--check=quiet"}).what, sort_request::action::check_silently);
  EXPECT_EQ(read({"-m", "a", "b"}).what, sort_request::action::merge);
}

TEST(sort_request, asks_for_checksums_unless_told_not_to) {
  EXPECT_EQ(read({}).storage().checksums, block_checksums::of_runs);
  EXPECT_EQ(read({"--no-block-checksums"}).storage().checksums, block_checksums::none);
  EXPECT_EQ(read({"--no-block-checksums", "--block-checksums"}).storage().checksums,
            block_checksums::of_runs);
}

TEST(sort_request, gathers_directories_and_operands_in_order) {
  auto const request = read({"a", "-T", "x", "b", "-T", "y", "-o", "c", "--parallel=3"});
  EXPECT_EQ(request.directories, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(request.inputs, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(request.output, "c");
  EXPECT_EQ(request.threads, 3U);
}

}  // namespace
}  // namespace outsize::tool
