// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

#include <tools/outsize/work_options.hpp>

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::tool {
namespace {

work_options parse(std::initializer_list<char const*> words) {
  std::vector<std::string> copies{"test"};
  copies.insert(copies.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (auto& c : copies) argv.push_back(c.data());
  argv.push_back(nullptr);
  work_options work;
  option_table table("test", "a test");
  table.add(resource_rows(work)).add(report_rows(work));
  table.parse(static_cast<int>(copies.size()), argv.data());
  return work;
}

TEST(work_options, read_memory_in_the_units_of_sort) {
  EXPECT_EQ(parse({"-S", "100"}).memory_bytes, 100_KiB);
  EXPECT_EQ(parse({"-S", "3M"}).memory_bytes, 3_MiB);
  EXPECT_EQ(parse({"--memory", "7b"}).memory_bytes, 7U);
  EXPECT_THROW(parse({"-S", "much"}), std::invalid_argument);
  EXPECT_THROW(parse({"-S", "101%"}), usage_error);
  EXPECT_THROW(parse({"-S", "nan%"}), usage_error);
}

TEST(work_options, become_those_of_a_storage) {
  scratch::directory folder;
  auto const r = parse({"-S", "5M", "--parallel", "3", "-T", folder.path().c_str()});
  auto const options = r.storage();
  EXPECT_EQ(options.memory_bytes, 5_MiB);
  EXPECT_EQ(options.threads, 3U);
  ASSERT_EQ(options.disks.size(), 1U);
  EXPECT_EQ(options.disks[0].path, folder.path());
  EXPECT_THROW(parse({"--parallel", "0"}), usage_error);
  EXPECT_THROW(parse({"-T", "/dev/null"}), usage_error);
}

}  // namespace
}  // namespace outsize::tool
