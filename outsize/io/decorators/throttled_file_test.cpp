// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/decorators/throttled_file.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <vector>

#include <outsize/io/memory_file.hpp>

namespace outsize::io {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// Only lower bounds: nothing says how busy the machine is.

TEST(throttled_file, transfers_share_the_rate) {
  throttled_file target(make_memory_file("slow"), {.bytes_per_second = 100'000});
  std::array<std::byte, 500> bytes{};
  auto const start = clock::now();
  std::vector<request_ptr> requests;
  for (std::uint64_t i = 0; i < 4; ++i) requests.push_back(target.write(i * 500, bytes));
  wait_all(requests);
  EXPECT_GE(clock::now() - start, 20ms);
  EXPECT_EQ(target.size_bytes(), 2000U);
}

TEST(throttled_file, each_attempt_has_its_latency) {
  throttled_file target(make_memory_file("far"), {.latency = 5ms});
  std::array<std::byte, 8> bytes{};
  auto const start = clock::now();
  target.write(0, bytes)->wait();
  target.read(0, bytes)->wait();
  EXPECT_GE(clock::now() - start, 10ms);
}

TEST(throttled_file, a_waiting_request_can_be_cancelled) {
  throttled_file target(make_memory_file("stuck"), {.latency = 1h});
  std::array<std::byte, 8> bytes{};
  EXPECT_TRUE(target.write(0, bytes)->cancel());
}

}  // namespace
}  // namespace outsize::io
