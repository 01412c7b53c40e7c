// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Stretches of a file as blocks, to its very end.

#include <outsize/block/file_blocks.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::block {
namespace {

using bytes = std::vector<std::byte>;

bytes filled(std::size_t count, int value) { return bytes(count, static_cast<std::byte>(value)); }

TEST(file_blocks, are_written_and_read_where_they_say) {
  auto const file = io::make_memory_file("file");
  file_blocks blocks(*file);
  EXPECT_EQ(blocks.disk_speeds().size(), 1U);
  EXPECT_EQ(blocks.alignment_bytes(), file->alignment_bytes());
  for (int i : {2, 0, 1}) {
    block_id const id{.offset_bytes = static_cast<std::uint64_t>(i) * 100, .length_bytes = 100};
    blocks.write(id, filled(100, i))->wait();
  }
  EXPECT_EQ(file->size_bytes(), 300U);
  bytes all(300);
  file->read(0, all)->wait();
  for (int i : {0, 1, 2}) {
    bytes one(100);
    block_id const id{.offset_bytes = static_cast<std::uint64_t>(i) * 100, .length_bytes = 100};
    auto const reading = blocks.read(id, one);
    blocks.wait_for_block(id, *reading);
    EXPECT_EQ(one, filled(100, i));
    EXPECT_TRUE(std::equal(one.begin(), one.end(), all.begin() + i * 100));
  }
}

TEST(file_blocks, end_where_the_file_ends) {
  auto const file = io::make_memory_file("file");
  file->write(0, filled(130, 7))->wait();
  file_blocks blocks(*file);
  bytes one(100);
  block_id const last{.offset_bytes = 100, .length_bytes = 100};
  auto const reading = blocks.read(last, one);
  blocks.wait_for_block(last, *reading);
  EXPECT_TRUE(std::all_of(one.begin(), one.begin() + 30, [](auto b) { return b == std::byte{7}; }));
}

TEST(file_blocks, that_are_not_there_are_errors) {
  auto const file = io::make_memory_file("file");
  file->write(0, filled(100, 7))->wait();
  file_blocks blocks(*file);
  bytes one(100);
  block_id const behind{.offset_bytes = 100, .length_bytes = 100};
  auto const reading = blocks.read(behind, one);
  try {
    blocks.wait_for_block(behind, *reading);
    FAIL() << "read";
  } catch (io_error const& e) {
    EXPECT_EQ(e.code().value(), EIO);
    EXPECT_EQ(e.path(), "file");
    EXPECT_EQ(e.offset_bytes(), 100U);
  }
}

TEST(file_blocks, tell_of_failed_reads) {
  auto plan = std::make_shared<io::fault_plan>();
  plan->script(io::fault_point::read, 0, io::fault::fail(ENXIO));
  io::faulty_file file(io::make_memory_file("file"), plan);
  file.write(0, filled(100, 7))->wait();
  file_blocks blocks(file);
  bytes one(100);
  block_id const id{.offset_bytes = 0, .length_bytes = 100};
  auto const reading = blocks.read(id, one);
  EXPECT_THROW(blocks.wait_for_block(id, *reading), io_error);
}

}  // namespace
}  // namespace outsize::block
