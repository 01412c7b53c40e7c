// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/input_names.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::tool {
namespace {

using names = std::vector<std::string>;

TEST(input_names, are_operands_or_standard_input) {
  EXPECT_EQ(all_inputs({"a", "-"}, std::nullopt), (names{"a", "-"}));
  EXPECT_EQ(all_inputs({}, std::nullopt), names{"-"});
}

TEST(input_names, may_be_listed_in_a_file) {
  scratch::directory const dir;
  auto const listed = [&](std::string_view content) {
    scratch::write_file(dir.path("list"), content);
    return all_inputs({}, dir.path("list"));
  };
  using namespace std::string_view_literals;
  EXPECT_EQ(listed("a\0b c\n\0"sv), (names{"a", "b c\n"}));
  EXPECT_EQ(listed("a\0b"sv), (names{"a", "b"}));
  EXPECT_THROW(listed(""), usage_error);
  EXPECT_THROW(listed("a\0\0"sv), usage_error);
  EXPECT_THROW(all_inputs({"a"}, dir.path("list")), usage_error);
  EXPECT_THROW(all_inputs({}, dir.path("none")), io_error);
}

}  // namespace
}  // namespace outsize::tool
