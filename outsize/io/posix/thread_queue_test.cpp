// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/posix/thread_queue.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <vector>

#include <outsize/io/disk_file.hpp>

namespace outsize::io {
namespace {

TEST(thread_queue, never_has_more_attempts_under_way_than_its_depth) {
  constexpr int depth = 3;
  thread_queue queue(depth);
  auto const target = make_temporary_file(testing::TempDir(), queue, false);
  std::array<std::byte, 16> bytes{};
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::vector<request_ptr> requests;
  for (std::uint64_t i = 0; i < 200; ++i)
    requests.push_back(target->write(i * 16, bytes, [&](request const&, outcome) {
      int const now = ++inside;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      --inside;
    }));
  wait_all(requests);
  EXPECT_LE(most, depth);
  EXPECT_EQ(target->size_bytes(), 3200U);
}

TEST(thread_queue, gives_back_what_no_thread_has_taken) {
  thread_queue queue(1);
  auto const target = make_temporary_file(testing::TempDir(), queue, false);
  std::array<std::byte, 16> bytes{};
  std::promise<void> entered;
  std::promise<void> leave;
  auto const busy = target->write(0, bytes, [&](request const&, outcome) {
    entered.set_value();
    leave.get_future().wait();
  });
  entered.get_future().wait();
  auto const waiting = target->write(16, bytes);
  EXPECT_TRUE(waiting->cancel());
  leave.set_value();
  EXPECT_EQ(busy->wait(), 16U);
  EXPECT_EQ(waiting->wait_outcome().error_number, ECANCELED);
  EXPECT_EQ(target->size_bytes(), 16U);
}

}  // namespace
}  // namespace outsize::io
