// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Blocks come out as they were written, in whatever order they are taken; reading runs ahead;
// errors reach whoever takes the block.

#include <outsize/block/prefetcher.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::block {
namespace {

constexpr std::size_t block_bytes = 256;

struct prefetching : testing::Test {
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>();
  std::unique_ptr<storage> store;
  grant memory;
  std::vector<block_id> blocks;

  /// Block i is filled with bytes i; every third is only half as long.
  void set_up(std::uint32_t disk_count, std::size_t block_count) {
    storage_options options{.memory_bytes = 1_MiB, .threads = 1};
    for (std::uint32_t d = 0; d < disk_count; ++d)
      options.disks.emplace_back(
          "memory " + std::to_string(d), [this](io::request_queue&) -> io::file_ptr {
            return std::make_unique<io::faulty_file>(
                io::make_memory_file("memory", 1_GiB, {.own_thread = true}), plan);
          });
    store = std::make_unique<storage>(std::move(options));
    memory = store->memory().take(1_MiB, "test");
    auto const where = store->new_placement();
    for (std::size_t i = 0; i < block_count; ++i) {
      std::vector<std::byte> const bytes(i % 3 == 2 ? block_bytes / 2 : block_bytes,
                                         static_cast<std::byte>(i));
      blocks.push_back(store->allocate(bytes.size(), *where));
      store->write(blocks.back(), bytes)->wait();
    }
  }

  void expect_block(frame place, std::size_t i) const {
    auto const bytes = place.first(blocks[i].length_bytes);
    EXPECT_TRUE(std::ranges::all_of(bytes, [i](std::byte b) {
      return b == static_cast<std::byte>(i);
    })) << i;
  }

  void TearDown() override {
    for (block_id id : blocks) store->free(id);
    memory = grant();
  }
};

TEST_F(prefetching, hands_out_all_blocks_in_order) {
  for (std::uint32_t disk_count : {1U, 2U, 5U})
    for (std::size_t ahead : {1U, 2U, 7U}) {
      SCOPED_TRACE(std::to_string(disk_count) + " disks, ahead " + std::to_string(ahead));
      set_up(disk_count, 40);
      {
        buffer_pool pool(memory, block_bytes, ahead + 1);
        prefetcher reads(*store, pool, blocks, ahead);
        EXPECT_EQ(reads.block_count(), 40U);
        for (std::size_t i = 0; i < 40; ++i) {
          frame const place = reads.take(i);
          expect_block(place, i);
          reads.release(place);
        }
        EXPECT_EQ(pool.free_count(), pool.count());
      }
      EXPECT_EQ(store->total_statistics().read_count, 40U);
      TearDown();
      blocks.clear();
    }
}

TEST_F(prefetching, puts_blocks_at_the_end_that_it_is_told) {
  set_up(2, 20);
  buffer_pool pool(memory, block_bytes, 4);
  prefetcher reader(*store, pool, blocks, 3, frame_end::back);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    frame const place = reader.take(i);
    ASSERT_EQ(place.size(), block_bytes);
    expect_block(place.last(blocks[i].length_bytes), i);
    reader.release(place);
  }
}

TEST_F(prefetching, hands_out_blocks_before_their_turn) {
  std::uint64_t const seed = 31;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  set_up(3, 60);
  std::vector<std::size_t> order(60);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::shuffle(order, random);
  std::size_t const ahead = 4, held_at_once = 5;
  buffer_pool pool(memory, block_bytes, ahead + held_at_once);
  prefetcher reads(*store, pool, blocks, ahead);
  std::vector<frame> held;
  for (std::size_t i : order) {
    if (held.size() == held_at_once) {
      std::swap(held[random() % held.size()], held.back());
      reads.release(held.back());
      held.pop_back();
    }
    held.push_back(reads.take(i));
    expect_block(held.back(), i);
  }
  for (frame f : held) reads.release(f);
  EXPECT_EQ(store->total_statistics().read_count, 60U);
}

TEST_F(prefetching, reads_on_while_taken_blocks_are_held) {
  set_up(1, 8);
  buffer_pool pool(memory, block_bytes, 2 + 4);
  prefetcher reads(*store, pool, blocks, 2);
  std::vector<frame> held;
  for (std::size_t i = 0; i < 4; ++i) held.push_back(reads.take(i));
  EXPECT_EQ(pool.free_count(), 0U);  // blocks 4 and 5 are under way, though nothing was given back
  for (frame f : held) reads.release(f);
}

TEST_F(prefetching, throws_a_read_error_to_whoever_takes_the_block) {
  set_up(1, 6);
  plan->script(io::fault_point::read, 2, io::fault::fail(EIO));
  buffer_pool pool(memory, block_bytes, 4);
  {
    prefetcher reads(*store, pool, blocks, 2);
    for (std::size_t i = 0; i < 2; ++i) {
      frame const place = reads.take(i);
      expect_block(place, i);
      reads.release(place);
    }
    EXPECT_THROW(reads.take(2), io_error);
  }
  EXPECT_EQ(pool.free_count(), pool.count());
}

TEST_F(prefetching, calls_a_block_cut_short_an_error) {
  set_up(1, 0);
  auto const where = store->new_placement();
  auto beyond = store->allocate(block_bytes, *where);
  blocks.push_back(beyond);
  beyond.offset_bytes = 1_GiB;  // where the file has ended
  buffer_pool pool(memory, block_bytes, 2);
  prefetcher reads(*store, pool, {beyond}, 1);
  try {
    reads.take(0);
    FAIL() << "a block beyond the end of the file was read";
  } catch (io_error const& e) {
    EXPECT_EQ(e.code().value(), EIO);
    EXPECT_EQ(e.path(), "memory 0");
  }
}

TEST_F(prefetching, gives_back_what_was_never_taken) {
  set_up(2, 10);
  plan->script(io::fault_point::read, 0, io::fault::hold(std::chrono::milliseconds(2)), 3);
  buffer_pool pool(memory, block_bytes, 4);
  {
    prefetcher const reads(*store, pool, blocks, 4);
    EXPECT_EQ(pool.free_count(), 0U);
  }
  EXPECT_EQ(pool.free_count(), pool.count());
}

/// Has no memory for a read at some time.
class short_of_memory : public block_device {
 public:
  short_of_memory(storage& store, std::size_t reads) : store_(store), reads_left_(reads) {}

  std::span<std::uint64_t const> disk_speeds() const noexcept override {
    return store_.disk_speeds();
  }
  std::size_t alignment_bytes() override { return store_.alignment_bytes(); }
  io::request_ptr read(block_id id, std::span<std::byte> into, io::completion done) override {
    if (reads_left_ == 0) throw std::bad_alloc();
    --reads_left_;
    return store_.read(id, into, std::move(done));
  }
  io::request_ptr read_now(block_id id, std::span<std::byte> into) override {
    return store_.read_now(id, into);
  }
  io::request_ptr write(block_id id, std::span<std::byte const> from,
                        io::completion done) override {
    return store_.write(id, from, std::move(done));
  }
  void wait_for_block(block_id id, io::request& reading) const override {
    store_.wait_for_block(id, reading);
  }

 private:
  storage& store_;
  std::size_t reads_left_;
};

TEST_F(prefetching, gives_back_what_it_read_before_it_could_not_be_made) {
  set_up(2, 10);
  plan->script(io::fault_point::read, 0, io::fault::hold(std::chrono::milliseconds(2)), 3);
  buffer_pool pool(memory, block_bytes, 4);
  short_of_memory device(*store, 3);
  EXPECT_THROW(prefetcher(device, pool, blocks, 4), std::bad_alloc);
  EXPECT_EQ(pool.free_count(), pool.count());
}

}  // namespace
}  // namespace outsize::block
