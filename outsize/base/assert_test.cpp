// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/assert.hpp>

#include <gtest/gtest.h>

namespace {

TEST(assertion, names_condition_and_place_and_aborts) {
  EXPECT_DEATH(outsize::detail::assertion_failed("fan_in > 1", "merge.cpp", 7),
               "merge.cpp:7: assertion failed: fan_in > 1");
}

TEST(assertion, passes_when_the_condition_holds_and_evaluates_it_at_most_once) {
  int evaluations = 0;
  OUTSIZE_ASSERT(++evaluations > 0);
  EXPECT_LE(evaluations, 1);
  OUTSIZE_ASSERT_HEAVY(true);
}

}  // namespace
