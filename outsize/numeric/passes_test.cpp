// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Passes tell of the whole program.

#include <outsize/numeric/passes.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace outsize::numeric {
namespace {

TEST(passes, count_what_all_of_them_write) {
  std::vector<pass_progress> told;
  pass_listener const listener = [&](pass_progress const& p) { told.push_back(p); };
  progress_of_pass(listener, 1, 3, 100)({.bytes = 40});
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].pass, 2U);
  EXPECT_EQ(told[0].passes, 3U);
  EXPECT_EQ(told[0].done_bytes, 140U);
  EXPECT_EQ(told[0].total_bytes, 300U);
  EXPECT_FALSE(progress_of_pass({}, 0, 1, 100));
}

}  // namespace
}  // namespace outsize::numeric
