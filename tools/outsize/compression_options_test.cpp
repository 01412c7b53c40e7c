// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/compression_options.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace outsize::tool {
namespace {

compression_options parsed(std::vector<char const*> words) {
  compression_options made;
  option_table table("", "");
  table.add(compression_rows(made));
  words.insert(words.begin(), "sort");
  std::vector<char*> arguments;
  for (auto const* word : words) arguments.push_back(const_cast<char*>(word));
  arguments.push_back(nullptr);
  table.parse(static_cast<int>(words.size()), arguments.data());
  return made;
}

TEST(compression_options, look_at_text_unless_told_otherwise) {
  EXPECT_TRUE(parsed({}).decompresses(true));
  EXPECT_FALSE(parsed({}).decompresses(false));
  EXPECT_TRUE(parsed({"--decompress"}).decompresses(false));
  EXPECT_FALSE(parsed({"--no-decompress"}).decompresses(true));
}

TEST(compression_options, go_by_the_name_of_the_output_unless_told_otherwise) {
  EXPECT_EQ(parsed({}).output("a.gz"), io::compression::gzip);
  EXPECT_EQ(parsed({}).output("-"), io::compression::none);
  EXPECT_EQ(parsed({"--compress-output=none"}).output("a.gz"), io::compression::none);
  EXPECT_EQ(parsed({"--compress-output", "xz"}).output("-"), io::compression::xz);
  EXPECT_THROW(parsed({"--compress-output=bzip2"}), usage_error);
}

}  // namespace
}  // namespace outsize::tool
