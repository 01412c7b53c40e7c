// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/compression.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include <outsize/base/error.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::io {
namespace {

using enum compression;

compression of_text(std::string_view text) {
  return compression_of_bytes(std::as_bytes(std::span(text)));
}

TEST(compression, is_called_as_the_programs_are) {
  for (auto const kind : {none, gzip, zstd, lz4, xz})
    EXPECT_EQ(compression_called(name_of(kind)), kind);
  EXPECT_EQ(compression_called("bzip2"), std::nullopt);
  EXPECT_EQ(compression_called(""), std::nullopt);
}

TEST(compression, of_a_name_is_its_ending) {
  EXPECT_EQ(compression_of_name("a.gz"), gzip);
  EXPECT_EQ(compression_of_name("/b/a.csv.zst"), zstd);
  EXPECT_EQ(compression_of_name("a.lz4"), lz4);
  EXPECT_EQ(compression_of_name("a.tar.xz"), xz);
  for (auto const* name : {"", "-", "a", "a.gz.txt", "agz", "a.GZ", ".gz", "b/.xz", "a.gz/b"})
    EXPECT_EQ(compression_of_name(name), none) << name;
}

TEST(compression, of_bytes_is_their_signature_in_full) {
  std::string const xz_begins("\xfd\x37zXZ\0", 6);
  EXPECT_EQ(of_text("\x1f\x8b\x08"), gzip);
  EXPECT_EQ(of_text("\x28\xb5\x2f\xfd and more"), zstd);
  EXPECT_EQ(of_text("\x04\x22\x4d\x18"), lz4);
  EXPECT_EQ(of_text("\x02\x21\x4c\x18"), lz4);
  EXPECT_EQ(of_text(xz_begins), xz);
  EXPECT_EQ(of_text(xz_begins.substr(0, 5)), none);
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

TEST(compression, of_a_file_is_looked_up_only_where_it_can_be_read_again) {
  scratch::directory const folder;
  scratch::write_file(folder.path("a"), "\x1f\x8b\x08 and so on");
  scratch::write_file(folder.path("b"), "");
  EXPECT_EQ(compression_of_file(folder.path("a")), gzip);
  EXPECT_EQ(compression_of_file(folder.path("b")), none);
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(compression_of_file(folder.path("pipe")), none);  // and does not wait for a writer
  EXPECT_THROW(compression_of_file(folder.path("none")), io_error);
}

}  // namespace
}  // namespace outsize::io
