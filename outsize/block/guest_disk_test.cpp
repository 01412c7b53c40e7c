// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Blocks in a file beside the storage's disk: where they lie, that both kinds can be read, and what
// the storage counts.

#include <outsize/block/guest_disk.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::block {
namespace {

disk_options memory_disk(std::string name, std::uint64_t capacity_bytes = UINT64_MAX) {
  disk_options disk(name, [name](io::request_queue&) { return io::make_memory_file(name); });
  disk.capacity_bytes = capacity_bytes;
  return disk;
}

struct guest_disks : testing::Test {
  storage store{{.disks = {memory_disk("own", 64_KiB)}, .memory_bytes = 1_MiB, .threads = 1}};
};

TEST_F(guest_disks, give_places_behind_a_least_one_and_take_them_back) {
  guest_disk guest(store, memory_disk("guest", 64_KiB));
  auto const low = guest.allocate(4096, 32_KiB), high = guest.allocate(5, 32_KiB);
  ASSERT_TRUE(low && high);
  EXPECT_TRUE(guest.holds(*low));
  EXPECT_EQ(guest.disk_name(low->disk), "guest");
  EXPECT_EQ(low->offset_bytes, 32_KiB);
  EXPECT_GE(high->offset_bytes, 36_KiB);
  EXPECT_FALSE(guest.allocate(32_KiB, 32_KiB));

  guest.free(*low);
  EXPECT_EQ(guest.allocate(4096, 0)->offset_bytes, 0U);
  EXPECT_EQ(guest.allocate(4096, 30_KiB)->offset_bytes, 30_KiB);
}

TEST_F(guest_disks, leave_the_space_of_the_storage_as_it_is) {
  guest_disk guest(store, memory_disk("guest", 64_KiB));
  auto const where = store.new_placement();
  std::vector<block_id> own;
  for (int i = 0; i < 16; ++i) own.push_back(store.allocate(4096, *where));
  EXPECT_THROW(store.allocate(4096, *where), out_of_space);
  auto const other = guest.allocate(4096, 0);
  ASSERT_TRUE(other);
  EXPECT_EQ(store.allocated_bytes(), 64_KiB);
  EXPECT_EQ(guest.disk_name(own[0].disk), "own");

  for (block_id id : own) {
    EXPECT_FALSE(guest.holds(id));
    guest.free(id);
  }
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

TEST_F(guest_disks, transfer_blocks_of_both_kinds) {
  guest_disk guest(store, memory_disk("guest", 64_KiB));
  auto const where = store.new_placement();
  auto memory = store.memory().take(16384, "test");
  buffer const bytes = memory.allocate(16384);
  block_id const blocks[] = {store.allocate(4096, *where), *guest.allocate(4096, 0)};
  for (unsigned i = 0; i < 2; ++i) {
    auto const from = bytes.bytes().subspan(i * 4096, 4096);
    std::ranges::fill(from, std::byte(7 + i));
    guest.write(blocks[i], from)->wait();
  }
  for (unsigned i = 0; i < 2; ++i) {
    auto const from = bytes.bytes().subspan(i * 4096, 4096), to = bytes.bytes().last(4096);
    auto const reading = guest.read(blocks[i], to);
    guest.wait_for_block(blocks[i], *reading);
    EXPECT_TRUE(std::ranges::equal(from, to)) << i;
    std::ranges::fill(to, std::byte{});
    guest.wait_for_block(blocks[i], *guest.read_now(blocks[i], to));
    EXPECT_TRUE(std::ranges::equal(from, to)) << i;
    guest.check(blocks[i], to, checksum_of(from));
  }
  EXPECT_THROW(guest.check(blocks[1], bytes.bytes().first(4096), 0), corrupt_block);
  EXPECT_EQ(store.disk_statistics(0).write_bytes, 2 * 4096U) << "they lie on one device";
  store.free(blocks[0]);
}

TEST_F(guest_disks, may_be_many) {
  std::vector<std::unique_ptr<guest_disk>> many;
  for (int i = 0; i < 40; ++i)
    many.push_back(std::make_unique<guest_disk>(store, memory_disk("one of many", 4096)));
  for (auto const& guest : many) EXPECT_TRUE(guest->allocate(4096, 0));
}

TEST_F(guest_disks, fail_where_there_is_no_space_for_their_file) {
  auto const failing = [](io::request_queue&) -> io::file_ptr {
    throw io_error(ENOSPC, "allocate", "guest", 0, 4096);
  };
  EXPECT_THROW(guest_disk(store, {"guest", failing}), io_error);
}

}  // namespace
}  // namespace outsize::block
