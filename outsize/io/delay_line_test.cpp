// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/delay_line.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <vector>

#include <outsize/io/memory_file.hpp>

namespace outsize::io {
namespace {

using namespace std::chrono_literals;

attempt numbered(std::uint64_t number) { return {operation::read, number, nullptr, 0, nullptr}; }

TEST(delay_line, releases_in_the_order_of_due_times_then_of_arrival) {
  std::vector<std::uint64_t> order;
  std::promise<void> all;
  delay_line line([&](attempt work) {
    order.push_back(work.offset_bytes);
    if (order.size() == 4) all.set_value();
  });
  auto const base = delay_line::clock::now() + 20ms;
  line.hold(numbered(3), base + 2ms);
  line.hold(numbered(1), base);
  line.hold(numbered(2), base);
  line.hold(numbered(0), base - 15ms);
  all.get_future().wait();
  EXPECT_EQ(order, (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

TEST(delay_line, gives_back_what_is_still_held) {
  auto const target = make_memory_file("held");
  std::array<std::byte, 4> bytes{};
  auto const owner = target->read(0, bytes);
  std::atomic<int> released{0};
  delay_line line([&](attempt) { ++released; });
  line.hold({operation::read, 0, bytes.data(), 4, owner}, delay_line::clock::now() + 1h);
  EXPECT_TRUE(line.withdraw(*owner));
  EXPECT_FALSE(line.withdraw(*owner));
  EXPECT_EQ(released, 0);
}

}  // namespace
}  // namespace outsize::io
