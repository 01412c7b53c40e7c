// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/linux/uring_queue.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/io/disk_file.hpp>

namespace outsize::io {
namespace {

struct uring_queue : testing::Test {
  std::unique_ptr<request_queue> make(std::size_t depth) {
    try {
      return make_request_queue(backend::uring, depth);
    } catch (std::exception const&) {
      return nullptr;  // Not built in, or the kernel refuses: threads are used.
    }
  }
};

TEST_F(uring_queue, completes_more_attempts_than_it_has_slots) {
  auto const queue = make(2);
  if (!queue) GTEST_SKIP() << "no io_uring";
  EXPECT_EQ(queue->name(), "io_uring");
  auto const target = make_temporary_file(testing::TempDir(), *queue, false);
  std::array<std::byte, 16> bytes{};
  std::vector<request_ptr> requests;
  for (std::uint64_t i = 0; i < 300; ++i) requests.push_back(target->write(i * 16, bytes));
  wait_all(requests);
  EXPECT_EQ(target->size_bytes(), 4800U);
}

TEST_F(uring_queue, keeps_the_requests_of_threads_that_end) {
  auto const queue = make(16);
  if (!queue) GTEST_SKIP() << "no io_uring";
  auto const target = make_temporary_file(testing::TempDir(), *queue, false);
  std::vector<std::byte> bytes(100'000, std::byte{1});
  std::vector<request_ptr> requests(64);
  for (std::size_t i = 0; i < requests.size(); ++i)
    std::thread([&] { requests[i] = target->write(i * bytes.size(), bytes); }).join();
  for (auto const& r : requests) EXPECT_EQ(r->wait(), bytes.size());
}

TEST_F(uring_queue, gives_back_what_there_is_no_room_for_yet) {
  auto const queue = make(1);
  if (!queue) GTEST_SKIP() << "no io_uring";
  auto const target = make_temporary_file(testing::TempDir(), *queue, false);
  std::uint64_t const size = 100'000;
  std::vector<std::byte> const bytes(size);
  std::promise<void> entered;
  std::promise<void> leave;
  // While the completion thread stands in this callback, nobody frees the room of the second write.
  auto const first = target->write(0, bytes, [&](request const&, outcome) {
    entered.set_value();
    leave.get_future().wait();
  });
  entered.get_future().wait();
  auto const second = target->write(size, bytes);
  auto const third = target->write(2 * size, bytes);
  EXPECT_FALSE(second->cancel());
  EXPECT_TRUE(third->cancel());
  leave.set_value();
  EXPECT_EQ(first->wait(), size);
  EXPECT_EQ(second->wait(), size);
  EXPECT_EQ(target->size_bytes(), 2 * size);
}

TEST_F(uring_queue, has_room_for_eight_short_attempts_instead_of_a_long_one) {
  auto const queue = make(1);
  if (!queue) GTEST_SKIP() << "no io_uring";
  EXPECT_EQ(queue->depth(), 1U);
  auto const target = make_temporary_file(testing::TempDir(), *queue, false);
  std::array<std::byte, 16> const bytes{};
  std::vector<std::byte> const many(100'000);
  std::promise<void> entered;
  std::promise<void> leave;
  auto const first = target->write(0, bytes, [&](request const&, outcome) {
    entered.set_value();
    leave.get_future().wait();
  });
  entered.get_future().wait();
  std::vector<request_ptr> shorts;  // none of which ends while the callback waits
  for (std::uint64_t i = 1; i <= 8; ++i) shorts.push_back(target->write(i * 16, bytes));
  auto const ninth = target->write(9 * 16, bytes);
  auto const behind = target->write(10 * 16, many);
  for (auto const& each : shorts) EXPECT_FALSE(each->cancel());
  EXPECT_TRUE(ninth->cancel());
  EXPECT_TRUE(behind->cancel());
  leave.set_value();
  for (auto const& each : shorts) EXPECT_EQ(each->wait(), 16U);
  EXPECT_EQ(target->size_bytes(), 9 * 16U);
}

TEST_F(uring_queue, checks_each_result) {
  auto const queue = make(4);
  if (!queue) GTEST_SKIP() << "no io_uring";
  auto const full = open_file("/dev/full", *queue, {.mode = access::read_write, .direct = false});
  std::array<std::byte, 16> bytes{};
  EXPECT_EQ(full->write(0, bytes)->wait_outcome().error_number, ENOSPC);
}

}  // namespace
}  // namespace outsize::io
