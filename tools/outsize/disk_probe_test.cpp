// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/disk_probe.hpp>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <outsize/base/error.hpp>

namespace outsize::tool {
namespace {

disk_probe_options tiny() {
  return {.directory = ::testing::TempDir(),
          .file_bytes = 300 * 1024,
          .read_block_bytes = 64 * 1024,
          .write_block_bytes = 64 * 1024,
          .depth = 2};
}

TEST(disk_probe, measures_every_step) {
  auto const speed = probe_disk(tiny());
  EXPECT_GT(speed.first_write_bytes_per_second, 0);
  EXPECT_GT(speed.read_bytes_per_second, 0);
  EXPECT_GT(speed.write_bytes_per_second, 0);
  EXPECT_GT(speed.mixed_bytes_per_second, 0);
  EXPECT_FALSE(speed.backend.empty());
  EXPECT_GE(speed.alignment_bytes, 1U);
}

TEST(disk_probe, rounds_the_size_up_to_whole_blocks) {
  EXPECT_EQ(probe_disk(tiny()).file_bytes, 5U * 64 * 1024);
}

TEST(disk_probe, works_on_the_thread_back_end_with_more_depth_than_blocks) {
  auto options = tiny();
  options.backend = io::backend::threads;
  options.depth = 16;
  EXPECT_EQ(probe_disk(options).backend, "threads");
}

TEST(disk_probe, leaves_nothing_behind) {
  auto const directory = std::filesystem::path(::testing::TempDir()) / "disk_probe_test.d";
  std::filesystem::create_directory(directory);
  auto options = tiny();
  options.directory = directory;
  probe_disk(options);
  EXPECT_TRUE(std::filesystem::is_empty(directory));
  std::filesystem::remove(directory);
}

TEST(disk_probe, refuses_what_cannot_be_measured) {
  auto options = tiny();
  options.depth = 0;
  EXPECT_THROW(probe_disk(options), std::invalid_argument);
  options = tiny();
  options.directory = "/no/such/directory";
  EXPECT_THROW(probe_disk(options), io_error);
  options = tiny();
  options.file_bytes = std::uint64_t{1} << 60;
  EXPECT_THROW(probe_disk(options), out_of_space);
}

}  // namespace
}  // namespace outsize::tool
