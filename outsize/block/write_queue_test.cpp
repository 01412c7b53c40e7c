// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// What is handed over is on disk after flush(), buffers come back, and no failed write goes
// unnoticed.

#include <outsize/block/write_queue.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::block {
namespace {

constexpr std::size_t block_bytes = 512;

struct write_queue_on_faulty_disk : testing::Test {
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>(io::fault_odds{
      .seed = 3, .shorten = 0.3, .hold = 0.5, .max_delay = std::chrono::microseconds(200)});
  storage store{{.disks = {disk_options("memory",
                                        [this](io::request_queue&) -> io::file_ptr {
                                          return std::make_unique<io::faulty_file>(
                                              io::make_memory_file("memory"), plan);
                                        })},
                 .memory_bytes = 1_MiB,
                 .threads = 1}};
  grant memory = store.memory().take(1_MiB, "test");
  buffer_pool pool{memory, block_bytes, 3};
  std::unique_ptr<placement> where = store.new_placement();

  block_id write_one(write_queue& queue, int value) {
    frame const f = queue.acquire();
    std::ranges::fill(f, static_cast<std::byte>(value));
    block_id const id = store.allocate(block_bytes, *where);
    queue.write(id, f);
    return id;
  }
};

TEST_F(write_queue_on_faulty_disk, writes_more_blocks_than_it_has_buffers) {
  std::vector<block_id> blocks;
  {
    write_queue queue(store, pool);
    for (int i = 0; i < 50; ++i) blocks.push_back(write_one(queue, i));
    queue.flush();
    EXPECT_EQ(pool.free_count(), pool.count());
  }
  std::array<std::byte, block_bytes> bytes;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    store.read(blocks[i], bytes)->wait();
    EXPECT_TRUE(
        std::ranges::all_of(bytes, [i](std::byte b) { return b == static_cast<std::byte>(i); }));
    store.free(blocks[i]);
  }
}

TEST_F(write_queue_on_faulty_disk, writes_the_first_bytes_of_a_buffer_for_a_shorter_block) {
  write_queue queue(store, pool);
  frame const f = queue.acquire();
  block_id const id = store.allocate(100, *where);
  queue.write(id, f);
  queue.flush();
  EXPECT_EQ(store.disk_statistics(0).write_bytes, 100U);
  store.free(id);
}

TEST_F(write_queue_on_faulty_disk, throws_the_first_error_once_it_is_known) {
  plan->script(io::fault_point::write, 1, io::fault::fail(ENOSPC));
  std::vector<block_id> blocks;
  {
    write_queue queue(store, pool);
    blocks.push_back(write_one(queue, 0));
    queue.flush();
    blocks.push_back(write_one(queue, 1));
    try {
      queue.flush();
      FAIL() << "a failed write was not noticed";
    } catch (io_error const& e) {
      EXPECT_EQ(e.code().value(), ENOSPC);
      EXPECT_EQ(e.path(), "memory");
      EXPECT_EQ(e.offset_bytes(), blocks[1].offset_bytes);
    }
    EXPECT_THROW(queue.acquire(), io_error);
    frame const f = pool.acquire();
    EXPECT_THROW(queue.write(blocks[0], f), io_error);
    EXPECT_EQ(pool.free_count(), pool.count());
  }
  for (block_id id : blocks) store.free(id);
}

TEST_F(write_queue_on_faulty_disk, waits_for_its_writes_when_destroyed) {
  plan->script(io::fault_point::write, 0, io::fault::hold(std::chrono::milliseconds(3)), 3);
  block_id id;
  {
    write_queue queue(store, pool);
    id = write_one(queue, 7);
  }
  EXPECT_EQ(pool.free_count(), pool.count());
  EXPECT_EQ(store.disk_statistics(0).write_count, 1U);
  store.free(id);
}

}  // namespace
}  // namespace outsize::block
