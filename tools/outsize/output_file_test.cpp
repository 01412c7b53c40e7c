// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A file is complete or gone; what was no file before stays what it was.
#include <tools/outsize/output_file.hpp>

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <outsize/base/error.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::tool {
namespace {

namespace fs = std::filesystem;

TEST(output_file, holds_what_was_written) {
  scratch::directory const folder;
  output_file output(folder.path("a"));
  output.write("one\n");
  output.write({"t\0wo", 4});
  output.close();
  EXPECT_EQ(scratch::read_file(folder.path("a")), std::string("one\nt\0wo", 8));
}

TEST(output_file, vanishes_unless_closed) {
  scratch::directory const folder;
  { output_file(folder.path("a")).write("one"); }
  EXPECT_FALSE(fs::exists(folder.path("a")));
}

TEST(output_file, keeps_what_was_there_unless_closed) {
  scratch::directory const folder;
  scratch::write_file(folder.path("a"), "old");
  {
    output_file output(folder.path("a"));
    output.write(std::string(5'000'000, 'x'));
  }
  EXPECT_EQ(scratch::read_file(folder.path("a")), "old");
}

TEST(output_file, does_not_take_a_link_away) {
  scratch::directory const folder;
  scratch::write_file(folder.path("target"), "old");
  fs::create_symlink(folder.path("target"), folder.path("link"));
  { output_file(folder.path("link")).write("new"); }
  EXPECT_TRUE(fs::is_symlink(folder.path("link")));
}

TEST(output_file, names_what_cannot_be_written) {
  scratch::directory const folder;
  EXPECT_THROW(output_file(folder.path("no/such")), io_error);
  EXPECT_THROW(output_file{folder.path()}, io_error);
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  output_file full("/dev/full");
  try {
    full.write("x");
    full.close();
    FAIL();
  } catch (io_error const& error) {
    EXPECT_EQ(error.path(), "/dev/full");
    EXPECT_EQ(error.code(), std::errc::no_space_on_device);
  }
}

}  // namespace
}  // namespace outsize::tool
