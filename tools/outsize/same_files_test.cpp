// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/same_files.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include <outsize/testing/scratch_directory.hpp>
#include <tools/outsize/options.hpp>

namespace outsize::tool {
namespace {

struct same_files : testing::Test {
  std::string refusal(std::vector<std::string> const& inputs,
                      std::vector<named_output> const& outputs) {
    try {
      refuse_same_files(inputs, outputs);
      return "";
    } catch (usage_error const& e) {
      return e.what();
    }
  }

  scratch::directory folder;
  std::string const file = folder.path("file"), link = folder.path("link"),
                    around = folder.path("./file");
};

TEST_F(same_files, are_refused_by_whatever_names) {
  std::filesystem::create_symlink("file", link);
  for (bool const is_there : {false, true}) {
    if (is_there) scratch::write_file(file, "text");
    for (auto const& other : {file, link, around}) {
      EXPECT_EQ(refusal({}, {{"a", file}, {"b", other}}), "'" + other + "' is both a and b");
      EXPECT_EQ(refusal({other}, {{"a", file}}), "'" + other + "' is both an input and a");
      EXPECT_EQ(refusal({other}, {{"a", file, true}}), "");
    }
    EXPECT_EQ(refusal({file}, {{"a", folder.path("other")}, {"b", {}}}), "");
  }
}

TEST_F(same_files, may_take_nothing_together) {
  EXPECT_EQ(refusal({"/dev/null"}, {{"a", "/dev/null"}, {"b", "/dev/null"}}), "");
}

}  // namespace
}  // namespace outsize::tool
