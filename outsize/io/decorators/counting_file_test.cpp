// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/decorators/counting_file.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::io {
namespace {

TEST(counting_file, tells_requests_from_attempts) {
  auto const plan = std::make_shared<fault_plan>();
  plan->script(fault_point::write, 0, fault::shorten(4));
  plan->script(fault_point::write, 1, fault::interrupt());
  counting_file target(std::make_unique<faulty_file>(make_memory_file("counted"), plan));
  std::array<std::byte, 16> bytes{};
  target.write(0, bytes)->wait();
  target.read(0, bytes)->wait();
  EXPECT_EQ(target.tally().writes(), (io_count{.requests = 1, .bytes = 16, .attempts = 3}));
  EXPECT_EQ(target.tally().reads(), (io_count{.requests = 1, .bytes = 16, .attempts = 1}));
}

TEST(counting_file, logs_requests_in_order_while_told_to) {
  auto const tally = std::make_shared<io_tally>();
  counting_file first(make_memory_file("first"), tally);
  counting_file second(make_memory_file("second"), tally);
  std::array<std::byte, 16> bytes{};
  first.write(0, bytes);
  tally->keep_log(true);
  first.write(32, bytes);
  second.read(8, std::span(bytes).first(4));
  tally->keep_log(false);
  first.write(64, bytes);
  std::vector<logged_request> const expected{{operation::write, 32, 16}, {operation::read, 8, 4}};
  EXPECT_EQ(tally->log(), expected);
  EXPECT_EQ(tally->writes().requests, 3U);
  tally->keep_log(true);
  EXPECT_TRUE(tally->log().empty());
}

}  // namespace
}  // namespace outsize::io
