// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Pages have places of their own, on disks and in files, and give them back.

#include <outsize/page/detail/page_space.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/page/detail/disk_pages.hpp>
#include <outsize/page/detail/file_pages.hpp>

namespace outsize::detail {
namespace {

disk_options in_memory(std::string name, std::uint64_t capacity_bytes) {
  return disk_options(
      name, [=](io::request_queue&) { return io::make_memory_file(name, capacity_bytes); });
}

TEST(disk_pages, are_spread_over_the_disks_and_freed) {
  storage store({.disks = {in_memory("a", 1_MiB), in_memory("b", 1_MiB)},
                 .memory_bytes = 1_MiB,
                 .threads = 1});
  {
    disk_pages pages(store, 1000, store.new_placement());
    for (int i = 0; i < 600; ++i) pages.append();  // the index grows
    EXPECT_EQ(pages.end(), 600U);
    EXPECT_EQ(store.allocated_bytes(), 0U);
    EXPECT_FALSE(pages.place(7));
    for (std::uint64_t i = 0; i < 600; ++i) pages.place_to_change(i);
    std::set<std::pair<std::uint32_t, std::uint64_t>> places;
    for (std::uint64_t i = 0; i < 600; ++i) {
      auto const id = pages.place(i);
      EXPECT_GE(id.length_bytes, 1000U);
      places.emplace(id.disk, id.offset_bytes);
    }
    EXPECT_EQ(places.size(), 600U);
    EXPECT_EQ(places.begin()->first, 0U);
    EXPECT_EQ(places.rbegin()->first, 1U);
    auto const all_bytes = store.allocated_bytes();
    pages.shrink(0, 200);
    EXPECT_EQ(pages.end(), 200U);
    EXPECT_EQ(store.allocated_bytes(), all_bytes / 3);
  }
  EXPECT_EQ(store.allocated_bytes(), 0U);
  EXPECT_EQ(store.memory().free_bytes(), 1_MiB);
}

TEST(disk_pages, stay_as_they_are_when_the_disk_or_the_budget_is_full) {
  storage store({.disks = {in_memory("a", 10 * 1024)}, .memory_bytes = 1_MiB, .threads = 1});
  disk_pages pages(store, 1024, store.new_placement());
  for (int i = 0; i < 12; ++i) pages.append();
  EXPECT_THROW(pages.take_places(0, 12), out_of_space);
  EXPECT_EQ(store.allocated_bytes(), 0U);
  pages.take_places(2, 12);
  EXPECT_EQ(store.allocated_bytes(), 10 * 1024U);
  EXPECT_THROW(pages.place_to_change(1), out_of_space);
  EXPECT_FALSE(pages.place(1));
  pages.shrink(0, 11);
  EXPECT_TRUE(pages.place_to_change(1));

  storage small({.disks = {in_memory("b", 10_MiB)}, .memory_bytes = 4_KiB, .threads = 1});
  disk_pages indexed(small, 1000, small.new_placement());
  for (int i = 0; i < 256; ++i) indexed.append();
  EXPECT_THROW(indexed.append(), budget_error);
  EXPECT_EQ(indexed.end(), 256U);
  EXPECT_THROW(indexed.require_room(0, 257), budget_error);
  indexed.require_room(0, 256);
}

TEST(disk_pages, ask_before_they_take) {
  auto disk = in_memory("a", 1_MiB);
  disk.capacity_bytes = 10 * 1024;
  storage store({.disks = {disk}, .memory_bytes = 1_MiB, .threads = 1});
  disk_pages pages(store, 1024, store.new_placement());
  for (int i = 0; i < 12; ++i) pages.append();
  EXPECT_THROW(pages.take_places(0, 12), out_of_space);
  EXPECT_THROW(pages.require_room(0, 12), out_of_space);
  EXPECT_THROW(pages.require_room(0, UINT64_MAX / 2), out_of_space);
  EXPECT_EQ(store.peak_allocated_bytes(), 0U);
  pages.shrink(0, 6);
  pages.take_places(0, 3);
  pages.require_room(0, 10);  // what has no space yet counts
  EXPECT_THROW(pages.require_room(0, 11), out_of_space);
}

TEST(disk_pages, that_share_a_block_take_it_together) {
  storage store({.disks = {in_memory("a", 1_MiB)}, .memory_bytes = 1_MiB, .threads = 1});
  disk_pages pages(store, 1024, store.new_placement(), 0, 4);
  for (int i = 0; i < 10; ++i) pages.append();
  auto const place = pages.place_to_change(6);
  EXPECT_EQ(store.allocated_bytes(), 4 * 1024U);
  EXPECT_EQ(pages.place(7).offset_bytes, place.offset_bytes + 1024);
  EXPECT_FALSE(pages.place(3));
  pages.take_places(3, 6);
  EXPECT_EQ(store.allocated_bytes(), 8 * 1024U);
  EXPECT_EQ(pages.place(6), place);
}

TEST(disk_pages, come_and_go_at_both_ends) {
  storage store({.disks = {in_memory("a", 1_MiB)}, .memory_bytes = 1_MiB, .threads = 1});
  disk_pages pages(store, 1024, store.new_placement(), 1000);
  EXPECT_EQ(pages.begin(), 1000U);
  EXPECT_EQ(pages.end(), 1000U);
  for (int i = 0; i < 10; ++i) {
    pages.append();
    pages.prepend();
  }
  EXPECT_EQ(pages.begin(), 990U);
  EXPECT_EQ(pages.end(), 1010U);
  pages.take_places(990, 1010);
  auto const kept = pages.place(1003);
  pages.shrink(1002, 1005);
  EXPECT_EQ(pages.begin(), 1002U);
  EXPECT_EQ(pages.end(), 1005U);
  EXPECT_EQ(pages.place(1003), kept);
  EXPECT_EQ(store.allocated_bytes(), 3 * 1024U);
  pages.prepend();
  EXPECT_EQ(pages.place(1003), kept);
  EXPECT_EQ(store.allocated_bytes(), 3 * 1024U);
}

TEST(file_pages, lie_behind_each_other_in_the_file) {
  auto made = io::make_memory_file("file");
  made->write(0, std::vector<std::byte>(2500))->wait();
  auto& file = *made;
  file_pages pages(std::move(made), io::access::read_write, 1000);
  EXPECT_EQ(pages.end(), 3U);
  for (int i = 0; i < 50; ++i) pages.append();
  EXPECT_EQ(pages.end(), 53U);
  EXPECT_EQ(pages.place(52), (block::block_id{.offset_bytes = 52'000, .length_bytes = 1000}));
  EXPECT_EQ(file.size_bytes(), 2500U);
  for (std::uint64_t i = 0; i < 53; ++i) pages.place_to_change(i);
  EXPECT_GE(file.size_bytes(), 53'000U);
  EXPECT_LE(file.size_bytes(), 106'000U);
  pages.shrink(0, 4);
  pages.settle(3600);
  EXPECT_EQ(file.size_bytes(), 3600U);
  pages.append();
  EXPECT_EQ(pages.end(), 5U);
}

TEST(file_pages, are_not_said_to_be_durable_when_a_sync_has_failed) {
  auto const plan = std::make_shared<io::fault_plan>();
  plan->script(io::fault_point::sync, 1, io::fault::fail(ENOSPC));
  file_pages pages(std::make_unique<io::faulty_file>(io::make_memory_file("file"), plan),
                   io::access::read_write, 1000);
  pages.append();
  pages.settle(1000);
  pages.append();
  for (int tries = 0; tries < 3; ++tries) EXPECT_THROW(pages.settle(2000), io_error);
}

TEST(file_pages, of_a_file_to_be_read_are_not_changed) {
  auto made = io::make_memory_file("file");
  made->write(0, std::vector<std::byte>(2500))->wait();
  auto& file = *made;
  file_pages pages(std::move(made), io::access::read_only, 1000);
  try {
    pages.check_writable();
    FAIL() << "writable";
  } catch (io_error const& e) {
    EXPECT_EQ(e.code().value(), EACCES);
    EXPECT_EQ(e.path(), "file");
  }
  pages.settle(10);
  EXPECT_EQ(file.size_bytes(), 2500U);
}

}  // namespace
}  // namespace outsize::detail
