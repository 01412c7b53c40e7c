// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Part of every test executable: has tests of assertions run in a process that was started anew.
//
// GoogleTest would fork for them, and copies of storages and their kind refuse to work after a fork
// (outsize/base/detail/process_mark.hpp), so no assertion behind that would be met. Layer: tests.

#include <gtest/gtest.h>

namespace {

/// Sets the flag when main() has read those of the command line, and all of them exist.
class anew final : public testing::Environment {
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

[[maybe_unused]] auto* const is_added = testing::AddGlobalTestEnvironment(new anew);

}  // namespace
