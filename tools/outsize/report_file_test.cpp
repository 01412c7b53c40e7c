// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/report_file.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::tool {
namespace {

using testing::HasSubstr;

storage_options small(scratch::directory const& folder) {
  return {.disks = {folder.path()}, .memory_bytes = 1_MiB, .threads = 3};
}

TEST(report_file, appears_with_what_was_asked_for_and_is_known) {
  scratch::directory folder;
  storage store(small(folder));
  {
    report_file unused(folder.path("a"), store);
    EXPECT_TRUE(folder.names().empty());
    report_file file(folder.path("b"), store);
    pipeline::run_page page{.title = "a title"};
    page.facts = {{"runs", "17"}};
    file.write(std::move(page), {.inputs = {"in<1>"},
                                 .output = "out",
                                 .seconds = 2,
                                 .input_bytes = 6_MiB,
                                 .predicted = predicted_volumes{.blocks_read = 5_KiB}});
  }
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"b"}));
  auto const html = scratch::read_file(folder.path("b"));
  for (char const* part : {"a title", "in&lt;1&gt;", "2.00 s", "3 MiB/s", "17", "5 KiB"})
    EXPECT_THAT(html, HasSubstr(part));
}

TEST(report_file, is_refused_where_it_cannot_be_written) {
  scratch::directory folder;
  storage store(small(folder));
  EXPECT_THROW(report_file("/no/such/folder/page.html", store), io_error);
}

TEST(report_file, has_a_title_that_stays_short) {
  EXPECT_EQ(title_of("shuffle", {}), "outsize shuffle");
  EXPECT_EQ(title_of("sort", {"a", "b"}), "outsize sort a b");
  EXPECT_EQ(title_of("sort", std::vector<std::string>(9, "x")), "outsize sort x x x and 6 more");
}

}  // namespace
}  // namespace outsize::tool
