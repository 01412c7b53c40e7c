// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/user_files.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/io/file_identity.hpp>
#include <outsize/testing/loop_device.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::block {
namespace {

namespace fs = std::filesystem;

disk_options raw_disk(std::string const& path, bool force = false) {
  disk_options disk(path);
  disk.raw = true;
  disk.force = force;
  return disk;
}

storage_options with_disks(std::vector<disk_options> disks) {
  return {.disks = std::move(disks), .memory_bytes = 4_MiB, .threads = 1};
}

std::string refusal_of(std::function<void()> const& work) {
  try {
    work();
  } catch (std::invalid_argument const& error) {
    return error.what();
  }
  return "none";
}

TEST(user_files, are_no_raw_disks) {
  scratch::directory folder;
  auto const path = folder.path("disk");
  scratch::write_file(path, "contents");
  fs::create_hard_link(path, folder.path("hard"));
  fs::create_symlink("disk", folder.path("soft"));
  scratch::write_file(folder.path("other"), "contents");
  storage store(with_disks({disk_options(folder.path("")), raw_disk(path)}));
  auto memory = store.memory().take(1_MiB, "test");
  auto const each = [&](std::string const& name) {
    return std::vector<std::function<void()>>{
        [&, name] { open_input(store, name, memory, {.block_bytes = 4_KiB}); },
        [&, name] { open_output(store, name, {}); }, [&, name] { open_file(store, name); },
        [&, name] { make_output_file(store, name, 0); }};
  };
  for (auto const* name : {"disk", "hard", "soft"}) {
    for (auto const& opening : each(folder.path(name))) {
      EXPECT_EQ(refusal_of(opening), folder.path(name) + ": the raw disk " + path +
                                         " is written over; it cannot be an input or an output as "
                                         "well");
    }
  }
  for (auto const& opening : each(folder.path("other"))) EXPECT_EQ(refusal_of(opening), "none");
  EXPECT_EQ(scratch::read_file(path), "contents");
}

TEST(user_files, may_be_all_but_the_storage_s_own) {
  scratch::directory folder;
  scratch::write_file(folder.path("file"), "contents");
  storage store(with_disks({disk_options(folder.path(""))}));
  EXPECT_NO_THROW(store.refuse_disk(folder.path("file")));
  EXPECT_NO_THROW(store.refuse_disk(folder.path("none")));
  EXPECT_NO_THROW(store.refuse_disk("-"));
}

TEST(user_files, that_grow_are_told_to_the_listener) {
  scratch::directory folder;
  auto const path = folder.path("in");
  scratch::write_file(path, "contents");
  int told = 0;
  auto options = with_disks({disk_options(folder.path(""))});
  options.on_growth = [&](auto const&) { ++told; };
  storage store(options);
  auto memory = store.memory().take(1_MiB, "test");
  auto const in = open_input(store, path, memory, {.block_bytes = 4_KiB});
  std::ofstream(path, std::ios::app) << "more";
  EXPECT_EQ(in->next().size(), 8U);
  EXPECT_EQ(told, 1);
}

TEST(raw_disks, are_different_files) {
  scratch::directory folder;
  auto const path = folder.path("disk"), hard = folder.path("hard");
  scratch::write_file(path, "contents");
  fs::create_hard_link(path, hard);
  scratch::write_file(folder.path("other"), "contents");
  EXPECT_EQ(
      refusal_of([&] {
        storage store(with_disks({raw_disk(path), raw_disk(hard)}));
      }),
      hard + ": it is the disk " + path + ", too, and blocks would be written over each other");
  EXPECT_EQ(refusal_of([&] {
              storage store(with_disks({raw_disk(path), raw_disk(folder.path("other"))}));
            }),
            "none");
}

TEST(raw_disks, share_bytes_with_their_partitions) {
  io::file_identity const disk{.device = 8, .disk = 8}, part{.device = 9, .disk = 8},
      next{.device = 10, .disk = 8}, other{.device = 16, .disk = 16}, file{.device = 8, .inode = 2},
      same{.device = 8, .inode = 2}, elsewhere{.device = 9, .inode = 2};
  EXPECT_TRUE(io::share_bytes(disk, part));
  EXPECT_TRUE(io::share_bytes(part, disk));
  EXPECT_TRUE(io::share_bytes(part, part));
  EXPECT_FALSE(io::share_bytes(part, next));
  EXPECT_FALSE(io::share_bytes(disk, other));
  EXPECT_FALSE(io::share_bytes(disk, file));
  EXPECT_TRUE(io::share_bytes(file, same));
  EXPECT_FALSE(io::share_bytes(file, elsewhere));
}

TEST(raw_disks, hold_nothing_that_is_known_unless_they_are_forced) {
  scratch::loop_device const device(1_MiB);
  if (!device.refusal().empty()) GTEST_SKIP() << device.refusal();
  std::fstream(device.path(), std::ios::in | std::ios::out | std::ios::binary) << "XFSB";
  EXPECT_EQ(refusal_of([&] { storage store(with_disks({raw_disk(device.path())})); }),
            device.path() +
                ": it holds an XFS file system, which a raw disk is written over; if that "
                "may be lost, say force=yes");
  storage store(with_disks({raw_disk(device.path(), true)}));
  EXPECT_EQ(refusal_of([&] { open_file(store, device.path()); }),
            device.path() + ": the raw disk " + device.path() +
                " is written over; it cannot be an input or an output as well");
}

}  // namespace
}  // namespace outsize::block
