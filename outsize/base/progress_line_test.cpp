// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The line says what is known, and fits.

#include <outsize/base/progress_line.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace outsize {
namespace {

TEST(progress_line, shows_share_bytes_rate_and_remaining_time) {
  std::string const line = progress_text("writing", 512 << 20, 1 << 30, 4.0);
  for (char const* part : {"writing", "[############............]", "50 %", "512 MiB of 1 GiB",
                           "128 MiB/s", "4 s left"})
    EXPECT_NE(line.find(part), std::string::npos) << part << " is not in " << line;
}

TEST(progress_line, shows_what_is_known_while_the_size_is_not) {
  EXPECT_EQ(progress_text("reading", 3 << 20, 0, 1.0), "reading  3 MiB  3 MiB/s");
}

TEST(progress_line, never_exceeds_its_width) {
  EXPECT_NE(progress_text("done", 3 << 20, 2 << 20, 1.0).find("[########################]"),
            std::string::npos);
}

TEST(progress_line, draws_on_its_terminal_and_leaves_nothing_there) {
  std::FILE* const terminal = std::tmpfile();
  ASSERT_NE(terminal, nullptr);
  {
    progress_line line(terminal);
    line.show("reading", 1 << 20, 0);
    line.show("reading", 2 << 20, 0);  // too soon to be drawn
  }
  std::rewind(terminal);
  std::string drawn(1000, '\0');
  drawn.resize(std::fread(drawn.data(), 1, drawn.size(), terminal));
  std::fclose(terminal);
  EXPECT_TRUE(drawn.starts_with("\rreading  1 MiB")) << drawn;
  EXPECT_TRUE(drawn.ends_with("\x1b[K\r\x1b[K")) << drawn;
}

}  // namespace
}  // namespace outsize
