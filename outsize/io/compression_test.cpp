// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/compression.hpp>

#include <gtest/gtest.h>
#include <string>

namespace outsize::io {
namespace {

using enum compression;

compression of_text(std::string_view text) {
  return compression_of_bytes(std::as_bytes(std::span(text)));
}

TEST(compression, is_called_as_the_programs_are) {
  for (auto const kind : {none, gzip, zstd, lz4, xz, bzip2})
    EXPECT_EQ(compression_called(name_of(kind)), kind);
  EXPECT_EQ(compression_called("zip"), std::nullopt);
  EXPECT_EQ(compression_called(""), std::nullopt);
}

TEST(compression, of_a_name_is_its_ending) {
  EXPECT_EQ(compression_of_name("a.gz"), gzip);
  EXPECT_EQ(compression_of_name("/b/a.csv.zst"), zstd);
  EXPECT_EQ(compression_of_name("a.lz4"), lz4);
  EXPECT_EQ(compression_of_name("a.tar.xz"), xz);
  EXPECT_EQ(compression_of_name("A.BZ2"), bzip2);
  for (auto const* name : {"", "-", "a", "a.gz.txt", "agz", ".gz", "b/.xz", "a.gz/b", "a.zip"}) {
    EXPECT_EQ(compression_of_name(name), none) << name;
    EXPECT_EQ(promise_of_name(name), name == std::string_view("a.zip") ? "zip" : "") << name;
  }
  EXPECT_EQ(promise_of_name("a.Gz"), "gzip");
  EXPECT_EQ(promise_of_name("a.Z"), "compress");
  EXPECT_EQ(promise_of_name("a.z"), "");
}

TEST(compression, of_bytes_is_their_signature_in_full) {
  std::string const xz_begins("\xfd\x37zXZ\0", 6);
  EXPECT_EQ(of_text("\x1f\x8b\x08"), gzip);
  EXPECT_EQ(of_text("\x28\xb5\x2f\xfd and more"), zstd);
  EXPECT_EQ(of_text("\x04\x22\x4d\x18"), lz4);
  EXPECT_EQ(of_text("\x02\x21\x4c\x18"), lz4);
  EXPECT_EQ(of_text(xz_begins), xz);
  EXPECT_EQ(of_text(xz_begins.substr(0, 5)), none);
  EXPECT_EQ(of_text("BZh91AY&SY"), bzip2);
  EXPECT_EQ(of_text("BZh1\x17\x72\x45\x38\x50\x90"), bzip2);
  for (auto const* text : {"BZh", "BZh9", "BZh91AY&S", "BZh01AY&SY", "BZh9 is how bzip2 begins"})
    EXPECT_EQ(of_text(text), none) << text;
  EXPECT_EQ(of_text("\x1f\x8b"), none);
  EXPECT_EQ(of_text(""), none);
  EXPECT_EQ(of_text("text"), none);
}

TEST(compression, of_skippable_frames_is_that_of_what_follows) {
  std::string const skippable("\x50\x2a\x4d\x18\x02\0\0\0ab", 10);
  std::string const long_one("\x5f\x2a\x4d\x18\0\0\0\xff", 8);
  EXPECT_EQ(of_text(skippable + "\x28\xb5\x2f\xfd"), zstd);
  EXPECT_EQ(of_text(skippable + "\x04\x22\x4d\x18"), lz4);
  EXPECT_EQ(of_text(skippable + skippable), zstd);
  EXPECT_EQ(of_text(skippable), zstd);
  EXPECT_EQ(of_text(long_one), zstd);
  EXPECT_EQ(of_text(skippable.substr(0, 7)), none);
  EXPECT_EQ(of_text("\x60" + skippable.substr(1)), none);
}

TEST(compression, of_foreign_kinds_is_known) {
  auto const foreign = [](std::string_view text) {
    return foreign_kind_of_bytes(std::as_bytes(std::span(text)));
  };
  std::string const lzma_begins("\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff", 13);
  EXPECT_EQ(foreign("PK\x03\x04"), "zip");
  EXPECT_EQ(foreign("PK\x05\x06"), "zip");
  EXPECT_EQ(foreign("7z\xbc\xaf\x27\x1c"), "7-Zip");
  EXPECT_EQ(foreign("Rar!\x1a\x07\x01"), "RAR");
  EXPECT_EQ(foreign("\x1f\x9d\x90"), "compress");
  EXPECT_EQ(foreign("LZIP\x01"), "lzip");
  EXPECT_EQ(foreign(std::string_view("\x89LZO\0\r\n\x1a\n", 9)), "lzop");
  EXPECT_EQ(foreign(std::string_view("\xff\x06\0\0sNaPpY", 10)), "snappy");
  EXPECT_EQ(foreign(lzma_begins), "lzma");
  for (std::string_view const text :
       {std::string_view(), std::string_view("PK"), std::string_view("Rar! a text"),
        std::string_view("LZIP is"), std::string_view("]0123456789abc"),
        std::string_view("]\0\0\0\0\0\0\0\0\0\0\0\0\0", 14), std::string_view("a,b\n1,2\n")})
    EXPECT_EQ(foreign(text), "") << text;
}

}  // namespace
}  // namespace outsize::io
