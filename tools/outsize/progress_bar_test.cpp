// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

#include <tools/outsize/progress_bar.hpp>

#include <gtest/gtest.h>

#include <string>

namespace outsize::tool {
namespace {

TEST(progress_bar, shows_share_bytes_rate_and_remaining_time) {
  sort_progress const half{sort_progress::phase::writing_output, 512 << 20, 1 << 30};
  std::string const line = progress_line(half, 4.0);
  for (char const* part : {"writing", "[############............]", "50 %", "512 MiB of 1 GiB",
                           "128 MiB/s", "4 s left"})
    EXPECT_NE(line.find(part), std::string::npos) << part << " is not in " << line;
}

TEST(progress_bar, shows_what_is_known_while_the_size_is_not) {
  sort_progress const unknown{sort_progress::phase::forming_runs, 3 << 20, 0};
  EXPECT_EQ(progress_line(unknown, 1.0), "reading  3 MiB  3 MiB/s");
}

TEST(progress_bar, never_exceeds_its_width) {
  sort_progress const over{sort_progress::phase::done, 3 << 20, 2 << 20};
  EXPECT_NE(progress_line(over, 1.0).find("[########################]"), std::string::npos);
}

}  // namespace
}  // namespace outsize::tool
