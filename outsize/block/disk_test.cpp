// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// One disk by itself: when its file is made, how it grows and reuses space, and its checksums. What
// a storage makes of several: storage_test.cpp.

#include <outsize/block/disk.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::block {
namespace {

struct disks : testing::Test {
  io::statistics counter;
  int files_made = 0;

  disk_options in_memory(std::uint64_t capacity_bytes = UINT64_MAX) {
    disk_options made("a", [this](io::request_queue&) {
      ++files_made;
      return io::make_memory_file("a");
    });
    made.capacity_bytes = capacity_bytes;
    made.backend = io::backend::automatic;
    made.depth = 4;
    made.direct = false;
    return made;
  }
};

TEST_F(disks, make_their_file_on_first_use) {
  disk d(in_memory(), counter);
  EXPECT_EQ(files_made, 0);
  EXPECT_EQ(d.name(), "a");
  ASSERT_TRUE(d.allocate(4096));
  EXPECT_EQ(files_made, 1);
  d.file();
  EXPECT_EQ(files_made, 1);
}

TEST_F(disks, fill_freed_space_before_they_grow) {
  disk d(in_memory(), counter);
  auto const first = d.allocate(4096), second = d.allocate(4096);
  ASSERT_TRUE(first && second);
  d.free(*first, 4096);
  EXPECT_EQ(d.allocate(4096), first);
}

TEST_F(disks, hold_no_more_than_their_capacity) {
  disk d(in_memory(8192), counter);
  EXPECT_EQ(d.free_bytes(), 8192U);
  EXPECT_TRUE(d.allocate(4096));
  EXPECT_FALSE(d.allocate(8192));
  EXPECT_TRUE(d.allocate(4096));
  EXPECT_FALSE(d.allocate(4096));
  EXPECT_EQ(d.free_bytes(), 0U);
}

TEST_F(disks, count_what_moves) {
  disk d(in_memory(), counter);
  std::vector<std::byte> bytes(4096, std::byte{1});
  block_id const id{.offset_bytes = *d.allocate(4096), .disk = 0, .length_bytes = 4096};
  d.write(id, bytes, {})->wait();
  d.wait_for_block(id, *d.read(id, bytes, {}));
  EXPECT_EQ(counter.snapshot().write_bytes, 4096U);
  EXPECT_EQ(counter.snapshot().read_bytes, 4096U);
}

TEST_F(disks, tell_bytes_that_others_have_changed) {
  memory_budget memory(1_MiB);
  disk d(in_memory(), counter);
  d.keep_checksums(memory, 4096);
  std::vector<std::byte> bytes(4096, std::byte{1}), others(4096, std::byte{2});
  block_id const id{.offset_bytes = *d.allocate(4096), .disk = 0, .length_bytes = 4096};
  d.write(id, bytes, {})->wait();
  d.wait_for_block(id, *d.read_now(id, bytes));
  d.file().write(id.offset_bytes, others)->wait();
  EXPECT_THROW(d.wait_for_block(id, *d.read(id, bytes, {})), corrupt_block);
}

TEST_F(disks, refuse_paths_that_are_not_what_they_should_be) {
  scratch::directory folder;
  auto options = in_memory();
  options.open = {};
  options.path = folder.path() + "/missing";
  EXPECT_THROW(disk(options, counter), io_error);
  options.path = folder.path();
  options.raw = true;
  try {
    disk const made(options, counter);
    FAIL() << "a directory is not written over";
  } catch (io_error const& e) {
    EXPECT_EQ(e.code().value(), EISDIR);
  }
}

}  // namespace
}  // namespace outsize::block
