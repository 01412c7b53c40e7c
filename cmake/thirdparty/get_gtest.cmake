# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# GTest::gtest_main, GTest::gmock, and gtest_discover_tests.

find_package(GTest 1.12 REQUIRED)
include(GoogleTest)
