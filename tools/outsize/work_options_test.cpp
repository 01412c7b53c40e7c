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

pass_request parse(std::initializer_list<char const*> words) {
  std::vector<std::string> copies{"test"};
  copies.insert(copies.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (auto& c : copies) argv.push_back(c.data());
  argv.push_back(nullptr);
  pass_request r;
  option_table table("test", "a test");
  table.add(pass_rows(r)).add(resource_rows(r.work)).add(report_rows(r.work));
  table.parse(static_cast<int>(copies.size()), argv.data());
  return r;
}

TEST(work_options, read_memory_in_the_units_of_sort) {
  EXPECT_EQ(parse({"-S", "100"}).work.memory_bytes, 100_KiB);
  EXPECT_EQ(parse({"-S", "3M"}).work.memory_bytes, 3_MiB);
  EXPECT_EQ(parse({"--memory", "7b"}).work.memory_bytes, 7U);
  EXPECT_THROW(parse({"-S", "much"}), std::invalid_argument);
  EXPECT_THROW(parse({"-S", "101%"}), usage_error);
}

TEST(work_options, become_those_of_a_storage) {
  scratch::directory folder;
  auto const r = parse({"-S", "5M", "--parallel", "3", "-T", folder.path().c_str(), "-o", "x"});
  auto const options = r.work.storage();
  EXPECT_EQ(options.memory, 5_MiB);
  EXPECT_EQ(options.threads, 3U);
  ASSERT_EQ(options.disks.size(), 1U);
  EXPECT_EQ(options.disks[0].path, folder.path());
  EXPECT_EQ(r.output, "x");
  EXPECT_THROW(parse({"--parallel", "0"}), usage_error);
  EXPECT_THROW(parse({"-T", "/dev/null"}), usage_error);
}

TEST(work_options, write_one_picture_and_trace_for_each_pass) {
  scratch::directory folder;
  storage store({.disks = {folder.path()}, .memory = 1_MiB, .threads = 1});
  pass_request r;
  r.work.json = folder.path("report.json");
  r.picture = folder.path("p.svg");
  r.work.trace = folder.path("t.json");
  write_reports(r, store, {.passes = 2, .networks = std::vector<pipeline::network_report>(2)});
  EXPECT_EQ(folder.names(),
            (std::vector<std::string>{"p.2.svg", "p.svg", "report.json", "t.2.json", "t.json"}));
  EXPECT_NE(scratch::read_file(*r.work.json).find("\"passes\": 2"), std::string::npos);
}

}  // namespace
}  // namespace outsize::tool
