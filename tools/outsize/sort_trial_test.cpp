// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// What it refuses; that it works is shown from outside, by tests/tool/bench_info_test.py.
#include <tools/outsize/sort_trial.hpp>

#include <cstdint>
#include <stdexcept>

#include <gtest/gtest.h>

#include <outsize/base/error.hpp>

namespace outsize::tool {
namespace {

TEST(sort_trial, refuses_an_unknown_kind) {
  EXPECT_THROW(run_sort_trial({.kind = "words"}), std::invalid_argument);
}

TEST(sort_trial, refuses_a_size_that_the_disk_cannot_hold_three_times) {
  EXPECT_THROW(run_sort_trial({.directory = ::testing::TempDir(), .size_bytes = UINT64_MAX / 4}),
               out_of_space);
}

TEST(sort_trial, names_a_directory_that_is_not_there) {
  EXPECT_THROW(run_sort_trial({.directory = "/no/such/directory"}), io_error);
}

}  // namespace
}  // namespace outsize::tool
