// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/error.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace outsize {
namespace {

TEST(io_error, says_in_one_line_what_failed_where_and_why) {
  io_error const error(EIO, "read", "runs.bin", 4096, 512);
  EXPECT_STREQ(error.what(), "runs.bin: cannot read 512 bytes at offset 4096: Input/output error");
  EXPECT_EQ(error.code(), std::errc::io_error);
  EXPECT_EQ(error.path(), "runs.bin");
  EXPECT_EQ(error.operation(), "read");
  EXPECT_EQ(error.offset_bytes(), 4096U);
  EXPECT_EQ(error.length_bytes(), 512U);
}

TEST(io_error, leaves_out_offset_and_length_where_there_are_none) {
  io_error const error(ENOENT, "open", "gone");
  EXPECT_STREQ(error.what(), "gone: cannot open: No such file or directory");
}

TEST(io_error, knows_when_there_is_no_room) {
  for (int const full : {ENOSPC, EDQUOT, EFBIG})
    EXPECT_TRUE(io_error(full, "write", "runs.bin").is_full());
  EXPECT_FALSE(io_error(EIO, "write", "runs.bin").is_full());
  EXPECT_TRUE(out_of_space("/mnt/a", 1024, 2048).is_full());
}

TEST(out_of_space, is_an_io_error_with_disk_have_and_need) {
  try {
    throw out_of_space("/mnt/a", 1024, 2048);
  } catch (io_error const& error) {
    EXPECT_EQ(error.code(), std::errc::no_space_on_device);
    EXPECT_STREQ(error.what(), "/mnt/a: no space left: have 1 KiB, need 2 KiB");
  }
}

TEST(corrupt_block, is_an_io_error_with_disk_and_block) {
  try {
    throw corrupt_block("/mnt/a", 8192, 4096);
  } catch (io_error const& error) {
    EXPECT_EQ(error.code(), std::errc::bad_message);
    EXPECT_EQ(error.path(), "/mnt/a");
    EXPECT_EQ(error.offset_bytes(), 8192U);
    EXPECT_EQ(error.length_bytes(), 4096U);
    EXPECT_STREQ(
        error.what(),
        "/mnt/a: the block of 4096 bytes at offset 8192 is not what was written there: its "
        "checksum does not fit");
  }
}

TEST(budget_error, names_asker_have_and_need) {
  budget_error const error("sort", 10, 20);
  EXPECT_EQ(error.asker(), "sort");
  EXPECT_EQ(error.have_bytes(), 10U);
  EXPECT_EQ(error.need_bytes(), 20U);
  std::string const message = error.what();
  for (char const* part : {"sort", "10 bytes", "20 bytes"})
    EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
}

TEST(cancelled, says_what_was_given_up) {
  EXPECT_STREQ(cancelled("merge").what(), "merge: cancelled");
}

}  // namespace
}  // namespace outsize
