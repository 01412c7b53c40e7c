// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/detail/patience.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>

namespace outsize::io::detail {
namespace {

using std::chrono::milliseconds;

TEST(patience, pauses_grow_to_a_quarter_of_a_second) {
  EXPECT_EQ(patience::pause_after(1), milliseconds(0));
  for (unsigned i = 1; i < 60; ++i) {
    EXPECT_GE(patience::pause_after(i + 1), patience::pause_after(i));
    EXPECT_LE(patience::pause_after(i), milliseconds(256));
  }
  EXPECT_EQ(patience::pause_after(60), milliseconds(256));
}

TEST(patience, ends_though_nobody_answers) {
  patience left;
  int attempts = 0;
  while (left.try_again(EINTR)) ++attempts;
  EXPECT_EQ(attempts, 1000);
  EXPECT_FALSE(left.try_again(EAGAIN)) << "it has ended for all";
  left.renew();
  EXPECT_TRUE(left.try_again(EAGAIN));
}

TEST(patience, makes_a_call_again_only_if_it_was_refused_for_the_moment) {
  int calls = 0;
  auto const failing = [&](int first, int then) {
    calls = 0;
    return call_patiently([&, first, then] {
      errno = ++calls < 4 ? first : then;
      return errno == 0 ? 7 : -1;
    });
  };
  EXPECT_EQ(failing(EINTR, 0), 7);
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(failing(EAGAIN, EIO), -1);
  EXPECT_EQ(errno, EIO);
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(failing(ENOSPC, 0), -1);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(failing(EINTR, EINTR), -1);
  EXPECT_EQ(calls, 1001);
}

}  // namespace
}  // namespace outsize::io::detail
