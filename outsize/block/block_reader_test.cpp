// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// All blocks come in the order of the list, each read once; a list given away is freed on the way.

#include <outsize/block/block_reader.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::block {
namespace {

struct block_readers : testing::Test {
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>(
      io::fault_odds{.seed = 12, .hold = 0.5, .max_delay = std::chrono::microseconds(200)});
  std::unique_ptr<storage> store;
  grant memory;

  void use_disks(std::size_t disk_count) {
    memory = grant();
    storage_options options{.memory_bytes = 1_MiB, .threads = 1};
    for (std::size_t d = 0; d < disk_count; ++d)
      options.disks.emplace_back("memory", [this](io::request_queue&) -> io::file_ptr {
        return std::make_unique<io::faulty_file>(
            io::make_memory_file("memory", 1_GiB, {.own_thread = true}), plan);
      });
    store = std::make_unique<storage>(std::move(options));
    memory = store->memory().take(64_KiB, "test");
  }

  /// Block i is of length 16 · (1 + i mod 7), filled with bytes i.
  block_list written(std::size_t count) {
    block_list blocks(*store, memory);
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<std::byte> const bytes(16 * (1 + i % 7), static_cast<std::byte>(i));
      store->write(blocks.append(bytes.size()), bytes)->wait();
    }
    return blocks;
  }

  static void expect_block(std::span<std::byte const> block, std::size_t i) {
    ASSERT_EQ(block.size(), 16 * (1 + i % 7)) << i;
    EXPECT_TRUE(std::ranges::all_of(block, [i](auto b) { return b == static_cast<std::byte>(i); }))
        << i;
  }
};

TEST_F(block_readers, hand_out_all_blocks_of_a_list_that_stays) {
  for (std::size_t disk_count : {1U, 3U})
    for (std::size_t buffer_count : {0U, 2U, 7U}) {
      SCOPED_TRACE(std::to_string(disk_count) + " disks, buffers " + std::to_string(buffer_count));
      use_disks(disk_count);
      block_list const blocks = written(30);
      std::uint64_t const allocated_bytes = store->allocated_bytes();
      for (int round = 1; round <= 2; ++round) {
        block_reader in(blocks, memory, {.buffer_count = buffer_count});
        for (std::size_t i = 0; i < 30; ++i) expect_block(in.next(), i);
        EXPECT_TRUE(in.next().empty());
        EXPECT_TRUE(in.next().empty());
        EXPECT_EQ(store->total_statistics().read_count, 30U * static_cast<unsigned>(round));
      }
      EXPECT_EQ(store->allocated_bytes(), allocated_bytes);
    }
}

TEST_F(block_readers, free_each_block_of_a_list_given_away_once_it_is_in_memory) {
  use_disks(2);
  {
    block_list blocks = written(20);
    block_reader in(std::move(blocks), memory, {.buffer_count = 3});
    std::uint64_t left = store->allocated_bytes();
    for (std::size_t i = 0; i < 15; ++i) {
      auto const block = in.next();
      expect_block(block, i);
      left -= block.size();
      EXPECT_EQ(store->allocated_bytes(), left);
    }
  }
  EXPECT_EQ(store->allocated_bytes(), 0U);
  EXPECT_EQ(memory.free_bytes(), memory.total_bytes());
}

TEST_F(block_readers, read_nothing_of_an_empty_list) {
  use_disks(1);
  block_list const blocks(*store, memory);
  EXPECT_TRUE(block_reader(blocks, memory).next().empty());
  EXPECT_TRUE(block_reader(block_list(*store, memory), memory).next().empty());
}

TEST_F(block_readers, refuse_too_little_memory_and_leave_the_list_as_it_was) {
  use_disks(1);
  block_list blocks = written(10);
  std::uint64_t const free_bytes = memory.free_bytes();
  EXPECT_THROW(block_reader(std::move(blocks), memory, {.buffer_count = 1000}), budget_error);
  EXPECT_THROW(block_reader(std::move(blocks), memory, {.buffer_count = 1}), std::invalid_argument);
  EXPECT_EQ(memory.free_bytes(), free_bytes);
  EXPECT_EQ(blocks.size(), 10U);
}

TEST_F(block_readers, throw_a_read_error_from_the_block_that_has_it) {
  use_disks(1);
  plan->script(io::fault_point::read, 2, io::fault::fail(EIO));
  {
    block_reader in(written(6), memory, {.buffer_count = 4});
    for (std::size_t i = 0; i < 2; ++i) expect_block(in.next(), i);
    EXPECT_THROW(in.next(), io_error);
  }
  EXPECT_EQ(store->allocated_bytes(), 0U);
}

}  // namespace
}  // namespace outsize::block
