// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Each filled buffer becomes a block as long as what is in it, and no failed write goes unnoticed.

#include <outsize/block/block_writer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::block {
namespace {

struct block_writers : testing::Test {
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>(
      io::fault_odds{.seed = 11, .hold = 0.5, .max_delay = std::chrono::microseconds(200)});
  storage store{{.disks = {disk("a"), disk("b")}, .memory_bytes = 1_MiB, .threads = 1}};
  grant memory = store.memory().take(64_KiB, "test");
  block_list blocks{store, memory};

  /// One that asks for whole sectors of 64 bytes.
  disk_options disk(char const* name) {
    return {name, [this, name](io::request_queue&) -> io::file_ptr {
              return std::make_unique<io::faulty_file>(
                  io::make_memory_file(name, 1_GiB, {.alignment_bytes = 64, .own_thread = true}),
                  plan);
            }};
  }

  static void write_filled(block_writer& out, int value, std::size_t bytes) {
    std::ranges::fill(out.buffer().first(bytes), static_cast<std::byte>(value));
    out.write(bytes);
  }

  void expect_block(std::size_t index, std::size_t bytes) {
    ASSERT_EQ(blocks[index].length_bytes, round_up<std::size_t>(bytes, 64));
    buffer const place = memory.allocate(4096);
    store.read(blocks[index], place.bytes().first(blocks[index].length_bytes))->wait();
    EXPECT_TRUE(std::ranges::all_of(place.bytes().first(bytes), [index](std::byte b) {
      return b == static_cast<std::byte>(index);
    }));
  }
};

TEST_F(block_writers, write_blocks_as_long_as_what_is_in_them) {
  std::vector<std::size_t> lengths;
  {
    block_writer out(blocks, memory, {.block_bytes = 500, .buffer_count = 3});
    EXPECT_EQ(out.block_bytes(), 512U);
    EXPECT_EQ(out.buffer().size(), 512U);
    EXPECT_EQ(out.buffer().data(), out.buffer().data());
    for (int i = 0; i < 40; ++i) {
      lengths.push_back(1 + static_cast<std::size_t>(i) * 37 % 512);
      write_filled(out, i, lengths.back());
    }
    out.finish();
    EXPECT_EQ(store.total_statistics().write_count, 40U);
  }
  ASSERT_EQ(blocks.size(), 40U);
  for (std::size_t i = 0; i < 40; ++i) expect_block(i, lengths[i]);
}

TEST_F(block_writers, take_two_buffers_for_each_disk_unless_told_otherwise) {
  std::uint64_t const free_bytes = memory.free_bytes();
  {
    block_writer const out(blocks, memory, {.block_bytes = 4096});
    EXPECT_EQ(memory.free_bytes(), free_bytes - 4 * 4096);
  }
  EXPECT_EQ(memory.free_bytes(), free_bytes);
  EXPECT_THROW(block_writer(blocks, memory, {.block_bytes = 1_MiB}), budget_error);
  EXPECT_EQ(memory.free_bytes(), free_bytes);
}

TEST_F(block_writers, do_with_one_buffer) {
  block_writer out(blocks, memory, {.block_bytes = 64, .buffer_count = 1});
  for (int i = 0; i < 5; ++i) write_filled(out, i, 64);
  out.finish();
  for (std::size_t i = 0; i < 5; ++i) expect_block(i, 64);
}

TEST_F(block_writers, report_a_failed_write_and_leave_nothing_behind) {
  plan->script(io::fault_point::write, 3, io::fault::fail(ENOSPC));
  {
    block_writer out(blocks, memory, {.block_bytes = 64, .buffer_count = 8});
    for (int i = 0; i < 4; ++i) write_filled(out, i, 64);
    try {
      out.finish();
      FAIL() << "a failed write was not noticed";
    } catch (io_error const& e) {
      EXPECT_EQ(e.code().value(), ENOSPC);
    }
    EXPECT_THROW(out.buffer(), io_error);
  }
  blocks.clear();
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

TEST_F(block_writers, do_not_append_a_block_that_they_refuse) {
  for (std::uint64_t round = 0; round < 20; ++round) {
    plan->script(io::fault_point::write, plan->calls(io::fault_point::write), io::fault::fail(EIO));
    block_writer out(blocks, memory, {.block_bytes = 64, .buffer_count = 8});
    std::size_t written = 0;
    auto const write_on = [&] {
      for (;; ++written) {
        out.buffer();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // what failed is known now
        out.write(64);
      }
    };
    EXPECT_THROW(write_on(), io_error);
    EXPECT_EQ(blocks.size(), written);
    EXPECT_THROW(out.finish(), io_error);
    blocks.clear();
  }
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

TEST_F(block_writers, refuse_blocks_of_more_than_an_id_can_say) {
  EXPECT_THROW(block_writer(blocks, memory, {.block_bytes = 4_GiB, .buffer_count = 1}),
               std::invalid_argument);
}

TEST_F(block_writers, give_everything_back_without_finish) {
  {
    block_writer out(blocks, memory, {.block_bytes = 64, .buffer_count = 2});
    write_filled(out, 0, 64);
    out.buffer();
  }
  expect_block(0, 64);  // its write was waited for
}

TEST_F(block_writers, tell_when_the_disks_are_full) {
  storage small({.disks = {disk_options(
                     "full", [](io::request_queue&) { return io::make_memory_file("full", 300); })},
                 .memory_bytes = 1_MiB,
                 .threads = 1});
  block_list few(small, memory);
  block_writer out(few, memory, {.block_bytes = 128, .buffer_count = 2});
  write_filled(out, 0, 128);
  write_filled(out, 1, 128);
  EXPECT_THROW(write_filled(out, 2, 128), out_of_space);
  out.finish();  // the two before are on disk
  EXPECT_EQ(few.size(), 2U);
}

}  // namespace
}  // namespace outsize::block
