// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/option_rows.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <outsize/base/units.hpp>

namespace outsize::tool {
namespace {

struct values {
  bool flag = false;
  std::string text;
  std::optional<std::string> maybe, json;
  std::uint64_t bytes = 0;
  std::string output = "-";
  bool has_output = false;
};

values parse(std::vector<std::string> words) {
  values v;
  option_table table("test", "a test");
  table.add(flag_row('f', "flag", "help", v.flag))
      .add(text_row('t', "text", "TEXT", "help", v.text))
      .add(text_row(0, "maybe", "TEXT", "help", v.maybe))
      .add(size_row("size", "help", v.bytes))
      .add(json_row(v.json))
      .add(output_row(v.output, v.has_output, "help"));
  std::string program = "test";
  std::vector<char*> argv{program.data()};
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  table.parse(static_cast<int>(words.size()) + 1, argv.data());
  return v;
}

TEST(option_rows, store_what_they_are_given) {
  auto const v =
      parse({"-f", "--text=a", "--maybe", "b", "--size=8192", "--json=c", "-o", "d", "-o", "d"});
  EXPECT_TRUE(v.flag);
  EXPECT_EQ(v.text, "a");
  EXPECT_EQ(v.maybe, "b");
  EXPECT_EQ(v.bytes, 8192U);  // of sizes only -S has units of its own
  EXPECT_EQ(v.json, "c");
  EXPECT_EQ(v.output, "d");
  EXPECT_TRUE(v.has_output);
  EXPECT_EQ(parse({"--size=8K"}).bytes, 8_KiB);
  EXPECT_FALSE(parse({}).has_output);
}

TEST(option_rows, take_one_output) { EXPECT_THROW(parse({"-o", "a", "--output=b"}), usage_error); }

}  // namespace
}  // namespace outsize::tool
