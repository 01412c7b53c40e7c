// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Part of every test executable: has tests of assertions run in a process that was started anew.
//
// GoogleTest would fork for them, and copies of storages and their kind refuse to work after a fork
// (outsize/base/process_mark.hpp), so no assertion behind that would be met. Layer: tests.

#include <gtest/gtest.h>

namespace {

// Before main(), which reads the flags of the command line.
[[maybe_unused]] bool const is_set = [] {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  return true;
}();

}  // namespace
