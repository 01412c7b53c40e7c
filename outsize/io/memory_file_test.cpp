// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/memory_file.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

#include <outsize/base/error.hpp>

namespace outsize::io {
namespace {

TEST(memory_file, gaps_read_as_zeros) {
  auto const target = make_memory_file("gaps");
  std::array<std::byte, 4> bytes{};
  bytes.fill(std::byte{7});
  target->write(6, bytes)->wait();
  EXPECT_EQ(target->size_bytes(), 10U);
  std::array<std::byte, 10> all{};
  all.fill(std::byte{9});
  EXPECT_EQ(target->read(0, all)->wait(), 10U);
  EXPECT_EQ(std::ranges::count(all, std::byte{0}), 6);
  EXPECT_EQ(std::ranges::count(all, std::byte{7}), 4);
}

TEST(memory_file, fills_up_to_its_capacity_and_then_has_no_space) {
  auto const target = make_memory_file("small", 10);
  std::array<std::byte, 8> bytes{};
  EXPECT_EQ(target->write(0, bytes)->wait(), 8U);
  auto const how = target->write(8, bytes)->wait_outcome();
  EXPECT_EQ(how.error_number, ENOSPC);
  EXPECT_EQ(how.bytes, 2U);
  EXPECT_EQ(target->size_bytes(), 10U);
  EXPECT_THROW(target->resize(11), io_error);
  EXPECT_THROW(target->allocate(5, 6), io_error);
  EXPECT_THROW(target->allocate(UINT64_MAX, 2), io_error);
  target->resize(3);
  target->allocate(0, 10);
  EXPECT_EQ(target->size_bytes(), 10U);
}

TEST(memory_file, completes_when_issued_or_in_a_thread_of_its_own) {
  std::array<std::byte, 8> bytes{};
  std::thread::id where;
  auto const note = [&](request const&, outcome) { where = std::this_thread::get_id(); };
  make_memory_file("at once")->write(0, bytes, note)->wait();
  EXPECT_EQ(where, std::this_thread::get_id());
  auto const threaded = make_memory_file("later", UINT64_MAX, {.own_thread = true});
  threaded->write(0, bytes, note)->wait();
  EXPECT_NE(where, std::this_thread::get_id());
}

}  // namespace
}  // namespace outsize::io
