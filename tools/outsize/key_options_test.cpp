// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// From the words of a command line to the orders of lines and records.
#include <tools/outsize/key_options.hpp>

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace outsize::tool {
namespace {

using testing::HasSubstr;

key_options parse(std::vector<std::string> words) {
  key_options options;
  option_table table("demo", "");
  table.add(key_option_rows(options));
  std::string program = "demo";
  std::vector<char*> argv{program.data()};
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  table.parse(static_cast<int>(words.size()) + 1, argv.data());
  return options;
}

int compare_lines(std::vector<std::string> const& words, std::string_view a, std::string_view b) {
  return text::line_order(parse(words).line_options()).compare(a, b);
}

template <typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (std::invalid_argument const& error) {
    return error.what();
  }
  return "accepted";
}

TEST(key_options, without_options_lines_compare_by_bytes) {
  auto const options = parse({});
  EXPECT_EQ(options.delimiter(), '\n');
  EXPECT_TRUE(text::line_order(options.line_options()).is_byte_order());
}

TEST(key_options, letters_bundle_and_reach_the_order) {
  EXPECT_GT(compare_lines({}, "9", "10"), 0);
  EXPECT_LT(compare_lines({"-n"}, "9", "10"), 0);
  EXPECT_GT(compare_lines({"-nr"}, "9", "10"), 0);
  EXPECT_LT(compare_lines({"--sort=numeric"}, "9", "10"), 0);
  EXPECT_GT(compare_lines({"--sort", "m"}, "MAR", "FEB"), 0);
  EXPECT_LT(compare_lines({"-t,", "-k2,2n", "-k1,1"}, "z,1", "a,2"), 0);
  EXPECT_EQ(compare_lines({"-t", "\\0", "-k", "2,2", "-s"}, std::string_view("b\0x", 3),
                          std::string_view("a\0x", 3)),
            0);
  EXPECT_EQ(compare_lines({"-f", "-u"}, "a", "A"), 0);
  EXPECT_EQ(parse({"-z"}).delimiter(), '\0');
}

TEST(key_options, a_seed_repeats_a_random_order) {
  auto const salt = [](std::vector<std::string> words) {
    return parse(std::move(words)).line_options().salt;
  };
  EXPECT_EQ(salt({"-R", "--seed=7"}), text::random_salt::of_seed(7));
  EXPECT_EQ(salt({"--sort=random", "--random-source=/dev/zero"}), text::random_salt{});
  EXPECT_NE(salt({"-k2R"}), salt({"-k2R"}));
  EXPECT_EQ(salt({"-k2"}), text::random_salt{});
}

TEST(key_options, records_take_the_same_keys_by_offset) {
  auto const order = parse({"--format", "bytes:4", "--key", "2:2:u16", "-k", "0:1::r"});
  EXPECT_THAT(refusal([&] { order.records(); }), HasSubstr("0:1::r"));
  auto const good = parse({"--format=bytes:4", "--key=2:2:u16", "-k0:1:bytes:r", "-s", "-u"});
  EXPECT_LT(good.records().compare("b.xx", "a.xx"), 0);
  EXPECT_TRUE(parse({"--format=u32", "-r"}).records().keys().front().reverse);
}

TEST(key_options, refusals_name_the_thing) {
  EXPECT_THAT(refusal([] { parse({"-t", "ab"}); }), HasSubstr("'ab'"));
  EXPECT_THAT(refusal([] { parse({"-t", ""}); }), HasSubstr("''"));
  EXPECT_THAT(refusal([] { parse({"-t,", "-t;"}); }), HasSubstr("';'"));
  EXPECT_THAT(refusal([] { parse({"--sort=randomly"}); }), HasSubstr("'randomly'"));
  EXPECT_THAT(refusal([] { parse({"--format", "u7"}); }), HasSubstr("'u7'"));
  EXPECT_THAT(refusal([] { parse({"-R", "--format=u64"}).records(); }), HasSubstr("-R"));
  EXPECT_THAT(refusal([] {
                parse({"-k1R", "--seed=1", "--random-source=/dev/zero"}).line_options();
              }),
              HasSubstr("--seed"));
  EXPECT_THAT(refusal([] { parse({"-k", "0"}).line_options(); }), HasSubstr("0"));
  EXPECT_THAT(refusal([] { parse({"--format=u64", "-n"}).records(); }), HasSubstr("-n"));
  EXPECT_THAT(refusal([] { parse({"--format=bytes:9", "-k8:2"}).records(); }), HasSubstr("8:2"));
}

TEST(key_options, say_how_csv_is_written) {
  EXPECT_FALSE(parse({"-t;"}).lines().csv);
  EXPECT_EQ(parse({"--csv"}).lines().csv, csv_format{});
  EXPECT_EQ(parse({"-t;", "--csv"}).lines().csv, csv_format{.separator = ';'});
  EXPECT_EQ(parse({"--tsv"}).lines().csv, csv_format{.separator = '\t'});
  EXPECT_TRUE(parse({"--header"}).lines().header);
  EXPECT_EQ(parse({"-z"}).lines().delimiter, '\0');
  EXPECT_LT(compare_lines({"--csv", "-k2n"}, "z,\"9\"", "\"a,8\",10"), 0);
  EXPECT_EQ(compare_lines({"--csv", "-k2", "-s"}, "x,\"a\",1", "y,a,2"), 0);
  EXPECT_THAT(refusal([] { parse({"--csv", "-t\""}).lines(); }), HasSubstr("quote"));
  EXPECT_THAT(refusal([] { parse({"--csv", "-z"}).lines(); }), HasSubstr("-z"));
  EXPECT_THAT(refusal([] { parse({"--csv", "-k1,2"}).line_options(); }), HasSubstr("one field"));
  EXPECT_THAT(refusal([] { parse({"--tsv", "--format=u64"}).records(); }), HasSubstr("--csv"));
}

}  // namespace
}  // namespace outsize::tool
