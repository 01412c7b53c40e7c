// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// From words to salts.
#include <tools/outsize/random_options.hpp>

#include <gtest/gtest.h>

#include <string>

#include <outsize/base/error.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::tool {
namespace {

TEST(random_options, repeat_what_a_seed_or_a_file_gives) {
  scratch::directory dir;
  scratch::write_file(dir.path("source"), "0123456789abcdef and more");
  random_options const by_seed{.seed = 5};
  EXPECT_EQ(by_seed.salt(), text::random_salt::of_seed(5));
  random_options const by_file{.source = dir.path("source")};
  EXPECT_EQ(std::string_view(by_file.salt().bytes.data(), 16), "0123456789abcdef");
  EXPECT_NE(random_options{}.salt(), random_options{}.salt());
}

TEST(random_options, refuse_what_gives_nothing) {
  scratch::directory dir;
  scratch::write_file(dir.path("short"), "0123");
  EXPECT_THROW((random_options{.source = dir.path("short")}.salt()), format_error);
  EXPECT_THROW((random_options{.source = dir.path("none")}.salt()), io_error);
  EXPECT_THROW((random_options{.source = dir.path()}.salt()), io_error);
  EXPECT_THROW((random_options{.source = "/dev/zero", .seed = 1}.salt()), usage_error);
  random_options options;
  auto const rows = random_rows(options);
  rows[0].handler("a");
  rows[0].handler("a");
  EXPECT_THROW(rows[0].handler("b"), usage_error);
  EXPECT_THROW(rows[1].handler("x"), usage_error);
}

}  // namespace
}  // namespace outsize::tool
