// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/pipeline/detail/chart_axes.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace outsize::pipeline::detail {
namespace {

using testing::HasSubstr;

TEST(chart_axes, show_text_without_markup) {
  std::string out;
  add_axis_text(out, 1.5, 2, "end", "a < b");
  EXPECT_EQ(out, "<text class=\"axis\" x=\"1.5\" y=\"2\" text-anchor=\"end\">a &lt; b</text>\n");
}

TEST(chart_axes, spread_times_over_the_width) {
  std::string out;
  add_times(out, 100, 500, 30, 8);
  EXPECT_THAT(out, HasSubstr("x=\"100\" y=\"30\" text-anchor=\"start\">0 s<"));
  EXPECT_THAT(out, HasSubstr("x=\"300\" y=\"30\" text-anchor=\"middle\">4.00 s<"));
  EXPECT_THAT(out, HasSubstr("x=\"500\" y=\"30\" text-anchor=\"end\">8.00 s<"));
}

}  // namespace
}  // namespace outsize::pipeline::detail
