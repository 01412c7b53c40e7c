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
  using enum contents;
  for (auto const text : {lines, csv}) {
    EXPECT_TRUE(parsed({}).decoding(text).decompress);
    EXPECT_TRUE(parsed({}).decoding(text).transcode);
    EXPECT_FALSE(parsed({"--no-decompress"}).decoding(text).decompress);
    EXPECT_FALSE(parsed({"--encoding=bytes"}).decoding(text).transcode);
  }
  EXPECT_FALSE(parsed({}).decoding(records).any());
  EXPECT_TRUE(parsed({"--decompress"}).decoding(records).decompress);
  EXPECT_FALSE(parsed({"--decompress"}).decoding(records).transcode);
  EXPECT_THROW(parsed({"--encoding=utf-8"}), usage_error);
}

TEST(compression_options, go_by_the_name_of_the_output_unless_told_otherwise) {
  EXPECT_EQ(parsed({}).output("a.gz"), io::compression::gzip);
  EXPECT_EQ(parsed({}).output("-"), io::compression::none);
  EXPECT_EQ(parsed({"--compress-output=none"}).output("a.gz"), io::compression::none);
  EXPECT_EQ(parsed({"--compress-output", "xz"}).output("-"), io::compression::xz);
  EXPECT_EQ(parsed({}).output("a.bz2"), io::compression::bzip2);
  EXPECT_THROW(parsed({"--compress-output=zip"}), usage_error);
}

TEST(compression_options, refuse_outputs_whose_names_promise_what_is_not_written) {
  for (auto const* name : {"a.zip", "b/a.Z", "a.7z", "a.RAR", "a.lz", "a.lzma", "a.lzo", "a.br",
                           "a.tgz", "a.tar.sz"}) {
    EXPECT_THROW(parsed({}).output(name), usage_error) << name;
    EXPECT_EQ(parsed({"--compress-output=none"}).output(name), io::compression::none);
    EXPECT_EQ(parsed({"--compress-output=gzip"}).output(name), io::compression::gzip);
  }
  for (auto const* name : {"a.z", ".zip", "a.zip/b", "zip", "a.zip.txt"})
    EXPECT_EQ(parsed({}).output(name), io::compression::none) << name;
}

}  // namespace
}  // namespace outsize::tool
