// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

#include <outsize/numeric/detail/scratch_file.hpp>

#include <gtest/gtest.h>

#include <algorithm>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::numeric {
namespace {

TEST(scratch_file, has_no_name_and_counts_what_moves) {
  scratch::directory folder;
  storage store({.disks = {folder.path()}, .memory_bytes = 1_MiB, .threads = 1});
  {
    auto const file = make_scratch_file(store, store.file_queue());
    allocate_scratch(store, *file, 100'000);
    EXPECT_EQ(folder.names(), std::vector<std::string>{});
    grant memory = store.memory().take(8192, "test");
    buffer const b = memory.allocate(8192);
    std::fill_n(b.data(), 8192, std::byte{7});
    file->write(4096, b.bytes().first(4096))->wait();
    file->read(4096, b.bytes().last(4096))->wait();
    EXPECT_EQ(b.data()[8191], std::byte{7});
  }
  EXPECT_EQ(store.file_statistics().snapshot().write_bytes, 4096U);
}

TEST(scratch_file, names_the_disk_that_is_too_small) {
  scratch::directory folder;
  storage store({.disks = {folder.path()}, .memory_bytes = 1_MiB, .threads = 1});
  auto const file = make_scratch_file(store, store.file_queue());
  EXPECT_THROW(allocate_scratch(store, *file, std::uint64_t{1} << 58), io_error);
}

}  // namespace
}  // namespace outsize::numeric
