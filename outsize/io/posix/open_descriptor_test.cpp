// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/posix/open_descriptor.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>

namespace outsize::io::detail {
namespace {

bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }
bool is_direct(int number) { return (::fcntl(number, F_GETFL) & O_DIRECT) != 0; }

TEST(open_descriptor, closes_once_wherever_it_was_moved) {
  int number = -1;
  {
    open_descriptor a(open_uninterrupted("/dev/null", O_RDONLY, 0));
    number = a.number();
    ASSERT_TRUE(is_open(number));
    open_descriptor const b(std::move(a));
    EXPECT_TRUE(is_open(number));
    EXPECT_EQ(b.number(), number);
  }
  EXPECT_FALSE(is_open(number));
}

TEST(open_descriptor, is_not_inherited_by_other_programs) {
  open_descriptor const file(open_uninterrupted("/dev/null", O_RDONLY, 0));
  EXPECT_NE(::fcntl(file.number(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(open_descriptor, temporary_files_have_no_name) {
  open_descriptor const file = open_temporary(testing::TempDir());
  struct stat about {};
  ASSERT_EQ(::fstat(file.number(), &about), 0);
  EXPECT_EQ(about.st_nlink, 0U);
  EXPECT_EQ(about.st_size, 0);
  EXPECT_THROW(open_temporary("/nowhere"), io_error);
}

TEST(open_descriptor, direct_flag_and_alignment_agree) {
  for (bool want_direct : {false, true}) {
    open_descriptor const file(
        open_uninterrupted(testing::TempDir().c_str(), O_TMPFILE | O_RDWR, 0600));
    if (file.number() < 0) GTEST_SKIP() << "no unnamed files here";
    auto const alignment = choose_alignment(file, want_direct);
    EXPECT_EQ(is_direct(file.number()), alignment > 1);
    EXPECT_TRUE(want_direct || alignment == 1);
  }
}

TEST(open_descriptor, keeps_to_the_unit_of_the_file_system) {
  open_descriptor const file(
      open_uninterrupted(testing::TempDir().c_str(), O_TMPFILE | O_RDWR, 0600));
  if (file.number() < 0) GTEST_SKIP() << "no unnamed files here";
  auto const alignment = choose_alignment(file, true);
  if (alignment == 1) GTEST_SKIP() << "no direct I/O here";
  struct stat about {};
  ASSERT_EQ(::fstat(file.number(), &about), 0);
  auto const unit = std::min<std::size_t>(static_cast<std::size_t>(about.st_blksize), page_bytes());
  EXPECT_EQ(alignment % unit, 0U) << "ext4 would write one request at a time to new space";
}

TEST(open_descriptor, goes_through_the_cache_where_direct_input_is_impossible) {
  open_descriptor const file(open_uninterrupted("/proc/self/status", O_RDONLY, 0));
  ASSERT_GE(file.number(), 0);
  EXPECT_EQ(choose_alignment(file, true), 1U);
  EXPECT_FALSE(is_direct(file.number()));
}

TEST(open_descriptor, asking_the_size_of_nothing_names_it) {
  open_descriptor const nothing(-1);
  try {
    file_size_bytes(nothing, "runs.bin");
    FAIL() << "did not throw";
  } catch (io_error const& error) {
    EXPECT_EQ(error.code().value(), EBADF);
    EXPECT_EQ(error.path(), "runs.bin");
  }
}

}  // namespace
}  // namespace outsize::io::detail
