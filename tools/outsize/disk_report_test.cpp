// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/disk_report.hpp>

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <outsize/base/error.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::tool {
namespace {

disk_speed a_speed() {
  return {.first_write_bytes_per_second = 1_MiB,
          .read_bytes_per_second = 2_MiB,
          .write_bytes_per_second = 3_MiB,
          .mixed_bytes_per_second = 1.5 * 1_MiB,
          .file_bytes = 64_MiB,
          .backend = "threads",
          .alignment_bytes = 512};
}

TEST(disk_report, has_speeds_in_bytes_per_second_and_the_conditions) {
  auto const object =
      disk_report({.directory = "/disk", .read_block_bytes = 4096, .depth = 7}, a_speed());
  EXPECT_EQ(object.at("read_bytes_per_second"), 2_MiB);
  EXPECT_EQ(object.at("write_bytes_per_second"), 3_MiB);
  EXPECT_EQ(object.at("mixed_bytes_per_second"), 1.5 * 1_MiB);
  EXPECT_EQ(object.at("read_block_bytes"), 4096);
  EXPECT_EQ(object.at("write_block_bytes"), 2_MiB);
  EXPECT_EQ(object.at("depth"), 7);
  EXPECT_EQ(object.at("backend"), "threads");
  EXPECT_EQ(object.at("direct"), true);
  EXPECT_EQ(object.at("directory"), "/disk");
}

TEST(disk_report, says_when_the_page_cache_took_part) {
  auto speed = a_speed();
  EXPECT_THAT(describe_disk({}, speed), ::testing::HasSubstr("direct I/O"));
  speed.alignment_bytes = 1;
  EXPECT_THAT(describe_disk({}, speed), ::testing::HasSubstr("buffered I/O"));
  EXPECT_EQ(disk_report({}, speed).at("direct"), false);
}

TEST(disk_settings, are_the_disks_own_or_those_of_all) {
  scratch::directory const dir;
  disk_options disk(dir.path(), 5_MiB);
  disk.backend = io::backend::threads;
  disk.direct = false;
  disk.write_bytes_per_second = 2_GiB;
  disk_settings const settings(disk, {.depth = 9});
  auto const report = settings.report();
  EXPECT_EQ(report.at("directory"), dir.path());
  EXPECT_EQ(report.at("capacity_bytes"), 5_MiB);
  EXPECT_LE(report.at("free_bytes"), 5_MiB);
  EXPECT_EQ(report.at("backend"), "threads");
  EXPECT_EQ(report.at("queue_depth"), 9);
  EXPECT_EQ(report.at("direct"), false);
  EXPECT_TRUE(report.at("given_read_bytes_per_second").is_null());
  EXPECT_EQ(report.at("given_write_bytes_per_second"), 2_GiB);
  EXPECT_THAT(settings.describe(), ::testing::HasSubstr("threads, 9 requests under way"));
  EXPECT_THAT(settings.describe(), ::testing::HasSubstr("reading not given, writing 2 GiB/s"));
  EXPECT_THROW(disk_settings("/no/such"), io_error);
}

}  // namespace
}  // namespace outsize::tool
