// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/record/detail/cut_short.hpp>

#include <gtest/gtest.h>

#include <string>

#include <outsize/base/error.hpp>

namespace outsize::detail {
namespace {

TEST(cut_short, names_the_input_and_both_sizes) {
  std::string message;
  try {
    throw_cut_short("data.bin", 17, 8);
  } catch (format_error const& error) {
    message = error.what();
  }
  EXPECT_EQ(message, "data.bin: the last record is cut short: 17 bytes are no multiple of 8");
}

}  // namespace
}  // namespace outsize::detail
