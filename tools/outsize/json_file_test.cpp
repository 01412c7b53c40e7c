// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/json_file.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::tool {
namespace {

TEST(json_file, appears_with_its_object) {
  scratch::directory folder;
  {
    json_file unused(folder.path("a"));
    EXPECT_TRUE(folder.names().empty());
    json_file file(folder.path("b"));
    file.write({{"name", "no \xff UTF-8"}, {"size", 7}});
  }
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"b"}));
  auto const object = nlohmann::json::parse(scratch::read_file(folder.path("b")));
  EXPECT_EQ(object.at("size"), 7);
}

TEST(json_file, is_opened_only_where_it_is_asked_for_and_can_be) {
  EXPECT_EQ(open_json(std::nullopt), nullptr);
  EXPECT_THROW(open_json("/no/such/folder/report.json"), io_error);
}

TEST(resource_fields, are_of_the_process_and_its_storage) {
  scratch::directory folder;
  storage store({.disks = {folder.path()}, .memory_bytes = 1_MiB, .threads = 3});
  auto const fields = resource_fields(store);
  EXPECT_GE(fields.at("cpu_seconds"), 0.0);
  EXPECT_GT(fields.at("peak_rss_bytes"), 1_MiB);
  EXPECT_EQ(fields.at("threads"), 3);
  EXPECT_EQ(fields.at("backend"), store.file_queue().name());
}

}  // namespace
}  // namespace outsize::tool
