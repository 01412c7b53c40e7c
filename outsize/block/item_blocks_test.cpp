// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// What is pushed comes out, whatever item, block size and count; with no more I/Os than blocks.

#include <outsize/block/item_blocks.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/decorators/counting_file.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::block {
namespace {

struct odd {
  std::array<std::uint8_t, 5> bytes;
  friend bool operator==(odd const&, odd const&) = default;
};
struct alignas(64) wide {
  std::uint64_t value;
  friend bool operator==(wide const&, wide const&) = default;
};

std::uint64_t make_item(std::uint64_t i, std::uint64_t const*) { return i * i; }
odd make_item(std::uint64_t i, odd const*) {
  return {{static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i >> 8), 3, 4, 5}};
}
wide make_item(std::uint64_t i, wide const*) { return {i + 7}; }

template <typename T>
T nth(std::uint64_t i) {
  return make_item(i, static_cast<T const*>(nullptr));
}

struct item_blocks : testing::Test {
  std::shared_ptr<io::io_tally> tally = std::make_shared<io::io_tally>();
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>();
  std::unique_ptr<storage> store;
  grant memory;

  void use_disks(std::size_t disk_count, std::size_t alignment_bytes) {
    memory = grant();
    tally = std::make_shared<io::io_tally>();
    storage_options options{
        .memory_bytes = 1_MiB, .threads = 1, .checksums = block_checksums::of_all};
    for (std::size_t d = 0; d < disk_count; ++d)
      options.disks.emplace_back("memory", [this, alignment_bytes](auto&) -> io::file_ptr {
        return std::make_unique<io::counting_file>(
            std::make_unique<io::faulty_file>(
                io::make_memory_file("memory", 1_GiB, {alignment_bytes, true}), plan),
            tally);
      });
    store = std::make_unique<storage>(std::move(options));
    memory = store->memory().take(128_KiB, "test");
  }

  /// Writes `count` items, reads them twice, and counts the I/Os beneath the storage.
  template <typename T>
  void expect_round_trip(std::uint64_t count, block_writer_options const& options) {
    SCOPED_TRACE(std::to_string(count) + " items of " + std::to_string(sizeof(T)) +
                 " in blocks of " + std::to_string(options.block_bytes));
    auto const written = tally->writes().requests, read = tally->reads().requests;
    block_list blocks(*store, memory);
    block_item_writer<T> out(blocks, memory, options);
    for (std::uint64_t i = 0; i < count; ++i) out.push(nth<T>(i));
    out.finish();
    EXPECT_EQ(out.size(), count);
    std::uint64_t const block_count = div_up<std::uint64_t>(count, out.items_per_block());
    EXPECT_EQ(tally->writes().requests - written, block_count);
    EXPECT_EQ(blocks.size(), block_count);

    expect_items<T>(block_item_reader<T>(blocks, count, memory), count);
    EXPECT_EQ(tally->reads().requests - read, block_count);
    expect_items<T>(block_item_reader<T>(std::move(blocks), count, memory), count);
    EXPECT_EQ(tally->reads().requests - read, 2 * block_count);
    EXPECT_EQ(store->allocated_bytes(), 0U);
  }

  template <typename T>
  static void expect_items(block_item_reader<T>&& in, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i, ++in) {
      ASSERT_EQ(in.size(), count - i);
      ASSERT_FALSE(in.empty());
      ASSERT_EQ(*in, nth<T>(i)) << i;
    }
    EXPECT_TRUE(in.empty());
  }

  /// All counts at which something changes with blocks of b items, and some beyond.
  template <typename T>
  void expect_round_trips(block_writer_options const& options) {
    block_list none(*store, memory);
    std::uint64_t const b = block_item_writer<T>(none, memory, options).items_per_block();
    for (std::uint64_t count :
         {std::uint64_t{0}, std::uint64_t{1}, b - 1, b, b + 1, 2 * b, 9 * b + 3})
      expect_round_trip<T>(count, options);
  }
};

TEST_F(item_blocks, give_back_what_was_pushed_with_one_io_for_each_block) {
  for (std::size_t disk_count : {1U, 3U})
    for (std::size_t alignment : {1U, 64U})
      for (std::size_t buffer_count : {0U, 1U, 5U}) {
        use_disks(disk_count, alignment);
        SCOPED_TRACE(std::to_string(disk_count) + " disks aligned to " + std::to_string(alignment));
        expect_round_trips<std::uint64_t>({.block_bytes = 100, .buffer_count = buffer_count});
        expect_round_trips<odd>({.block_bytes = 64, .buffer_count = buffer_count});
        expect_round_trips<wide>({.block_bytes = 256, .buffer_count = buffer_count});
      }
}

TEST_F(item_blocks, take_and_give_spans_of_any_length) {
  std::uint64_t const seed = 17;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  use_disks(2, 64);
  std::vector<std::uint64_t> items(2000);
  for (auto& item : items) item = random();
  block_list blocks(*store, memory);
  {
    block_item_writer<std::uint64_t> out(blocks, memory, {.block_bytes = 256});
    for (std::span<std::uint64_t const> left = items; !left.empty();) {
      std::size_t const count = std::min<std::size_t>(random() % 100, left.size());
      out.push(left.first(count));
      left = left.subspan(count);
      EXPECT_EQ(out.size(), items.size() - left.size());
    }
    out.finish();
  }
  std::vector<std::uint64_t> read;
  block_item_reader<std::uint64_t> in(blocks, items.size(), memory);
  while (!in.empty()) {
    std::size_t const count = random() % (in.pull().size() + 1);
    read.insert(read.end(), in.pull().begin(), in.pull().begin() + static_cast<int>(count));
    in.skip(count);
  }
  EXPECT_EQ(read, items);
}

TEST_F(item_blocks, of_several_block_sizes_share_a_storage_and_its_freed_space) {
  use_disks(2, 64);
  std::uint64_t const count = 500;
  block_list small(*store, memory), large(*store, memory);
  block_item_writer<std::uint64_t> into_small(small, memory, {.block_bytes = 64});
  block_item_writer<odd> into_large(large, memory, {.block_bytes = 1024});
  for (std::uint64_t i = 0; i < count; ++i) {
    into_small.push(nth<std::uint64_t>(i));
    into_large.push(nth<odd>(i));
  }
  into_small.finish();
  into_large.finish();
  // The small blocks are written anew as middle-sized ones, partly where they were freed.
  block_list middle(*store, memory);
  block_item_writer<std::uint64_t> into_middle(middle, memory, {.block_bytes = 192});
  for (block_item_reader<std::uint64_t> in(std::move(small), count, memory); !in.empty(); ++in)
    into_middle.push(*in);
  into_middle.finish();
  expect_items<std::uint64_t>({middle, count, memory}, count);
  expect_items<odd>({large, count, memory}, count);
}

TEST_F(item_blocks, report_a_failed_write_at_finish_at_the_latest) {
  for (std::uint64_t failing : {0U, 3U, 9U}) {
    SCOPED_TRACE("write " + std::to_string(failing));
    plan = std::make_shared<io::fault_plan>();
    plan->script(io::fault_point::write, failing, io::fault::fail(ENOSPC));
    use_disks(2, 1);
    block_list blocks(*store, memory);
    block_item_writer<std::uint64_t> out(blocks, memory, {.block_bytes = 64});
    try {
      for (std::uint64_t i = 0; i < 80; ++i) out.push(i);
      out.finish();
      FAIL() << "a failed write was not noticed";
    } catch (io_error const& e) {
      EXPECT_EQ(e.code().value(), ENOSPC);
    }
  }
}

TEST_F(item_blocks, report_a_failed_read_before_its_first_item) {
  for (std::uint64_t failing : {0U, 4U}) {
    plan = std::make_shared<io::fault_plan>();
    plan->script(io::fault_point::read, failing, io::fault::fail(EIO));
    use_disks(1, 1);
    block_list blocks(*store, memory);
    block_item_writer<std::uint64_t> out(blocks, memory, {.block_bytes = 64});
    for (std::uint64_t i = 0; i < 80; ++i) out.push(i);
    out.finish();
    std::uint64_t next = 0;
    try {
      block_item_reader<std::uint64_t> in(std::move(blocks), 80, memory);
      for (std::uint64_t const item : in) EXPECT_EQ(item, next++);
      FAIL() << "a failed read was not noticed";
    } catch (io_error const& e) {
      EXPECT_EQ(e.code().value(), EIO);
    }
    EXPECT_EQ(next, failing * 8);
    EXPECT_EQ(store->allocated_bytes(), 0U);
  }
}

// What cannot be read must not look like the end, nor be passed over.
TEST_F(item_blocks, are_not_empty_after_an_error) {
  plan->script(io::fault_point::read, 4, io::fault::fail(EIO));
  use_disks(1, 1);
  block_list blocks(*store, memory);
  block_item_writer<std::uint64_t> out(blocks, memory, {.block_bytes = 64});
  for (std::uint64_t i = 0; i < 80; ++i) out.push(i);
  out.finish();
  block_item_reader<std::uint64_t> in(blocks, 80, memory);
  std::uint64_t next = 0;
  for (int tries = 0; tries < 3; ++tries) {
    EXPECT_THROW(for (; !in.empty(); ++in) next += *in == next ? 1 : 0, io_error);
    EXPECT_FALSE(in.empty());
    EXPECT_THROW(in.pull(), io_error);
  }
  EXPECT_EQ(next, 4 * 8U);
}

TEST_F(item_blocks, go_on_where_a_loop_was_left) {
  use_disks(1, 1);
  block_list blocks(*store, memory);
  block_item_writer<std::uint64_t> out(blocks, memory, {.block_bytes = 64});
  for (std::uint64_t i = 0; i < 80; ++i) out.push(i);
  out.finish();
  block_item_reader<std::uint64_t> in(blocks, 80, memory);
  std::uint64_t next = 0;
  while (!in.empty()) {
    for (std::uint64_t const item : in) {
      ASSERT_EQ(item, next++);
      if (item % 5 == 0) break;
    }
    ASSERT_EQ(in.size(), 80 - next);
  }
  EXPECT_EQ(next, 80U);
}

TEST_F(item_blocks, name_the_disk_and_the_block_that_is_not_as_it_was_written) {
  plan->script(io::fault_point::write, 4, io::fault::flip(9));
  use_disks(1, 1);
  block_list blocks(*store, memory);
  block_item_writer<std::uint64_t> out(blocks, memory, {.block_bytes = 64});
  for (std::uint64_t i = 0; i < 80; ++i) out.push(i);
  out.finish();
  std::uint64_t next = 0;
  try {
    block_item_reader<std::uint64_t> in(std::move(blocks), 80, memory);
    for (std::uint64_t const item : in) EXPECT_EQ(item, next++);
    FAIL() << "a flipped bit was not noticed";
  } catch (corrupt_block const& e) {
    EXPECT_EQ(e.disk(), "memory");
    EXPECT_EQ(e.offset_bytes(), 4 * 64U);
  }
  EXPECT_EQ(next, 4 * 8U);
}

TEST_F(item_blocks, refuse_blocks_smaller_than_an_item) {
  use_disks(1, 1);
  block_list blocks(*store, memory);
  block_writer_options const options{.block_bytes = 4, .alignment_bytes = 1};
  EXPECT_THROW(block_item_writer<odd>(blocks, memory, options), std::invalid_argument);
  EXPECT_EQ(memory.free_bytes(), memory.total_bytes());
}

}  // namespace
}  // namespace outsize::block
