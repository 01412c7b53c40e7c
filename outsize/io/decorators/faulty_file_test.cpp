// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/decorators/faulty_file.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::io {
namespace {

using namespace std::chrono_literals;

struct faulty : testing::Test {
  alignas(64) std::array<std::byte, 256> bytes{};
  std::shared_ptr<fault_plan> plan = std::make_shared<fault_plan>();
  faulty_file target{make_memory_file("faulty", 1 << 20, {.alignment_bytes = 64}), plan};
};

TEST_F(faulty, fails_as_scripted_and_moves_nothing) {
  plan->script(fault_point::write, 1, fault::fail(ENOSPC));
  target.write(0, bytes)->wait();
  EXPECT_THROW(target.write(256, bytes)->wait(), io_error);
  EXPECT_EQ(target.size_bytes(), 256U);
  target.write(256, bytes)->wait();
  EXPECT_EQ(target.size_bytes(), 512U);
}

TEST_F(faulty, shortens_to_aligned_lengths_and_the_request_goes_on) {
  plan->script(fault_point::write, 0, fault::shorten(65));
  plan->script(fault_point::write, 1, fault::shorten(1));
  auto const r = target.write(0, bytes);
  EXPECT_EQ(r->wait(), 256U);
  EXPECT_EQ(r->attempt_count(), 3U) << "128, 64, 64 bytes";
  EXPECT_EQ(target.size_bytes(), 256U);
}

TEST_F(faulty, flips_a_bit_on_its_way_and_says_nothing) {
  plan->script(fault_point::write, 0, fault::flip(8 * 100 + 3));
  plan->script(fault_point::write, 1, fault::flip(8 * 256 + 1));
  target.write(0, bytes)->wait();
  target.write(256, bytes)->wait();
  EXPECT_EQ(bytes[100], std::byte{0});  // the writer's own bytes
  std::array<std::byte, 256> first_want{}, second_want{};
  first_want[100] = std::byte{8};
  second_want[0] = std::byte{2};
  target.read(0, bytes)->wait();
  EXPECT_EQ(bytes, first_want);
  target.read(256, bytes)->wait();
  EXPECT_EQ(bytes, second_want);
}

TEST_F(faulty, interrupts_and_the_request_goes_on) {
  plan->script(fault_point::read, 0, fault::interrupt(), 5);
  target.write(0, bytes)->wait();
  auto const r = target.read(0, bytes);
  EXPECT_EQ(r->wait(), 256U);
  EXPECT_EQ(r->attempt_count(), 6U);
}

TEST_F(faulty, lets_later_requests_overtake_a_held_one) {
  plan->script(fault_point::write, 0, fault::hold(20ms));
  std::mutex mutex;
  std::vector<std::uint64_t> order;
  auto const note = [&](request const& r, outcome) {
    std::lock_guard lock(mutex);
    order.push_back(r.offset_bytes());
  };
  std::array const requests{target.write(0, bytes, note), target.write(256, bytes, note)};
  EXPECT_EQ(wait_any(requests), 1U);
  wait_all(requests);
  EXPECT_EQ(order, (std::vector<std::uint64_t>{256, 0}));
}

TEST_F(faulty, a_held_request_can_be_cancelled) {
  plan->script(fault_point::write, 0, fault::hold(1h));
  auto const r = target.write(0, bytes);
  EXPECT_TRUE(r->cancel());
  EXPECT_EQ(target.size_bytes(), 0U);
}

TEST_F(faulty, fails_allocation_resizing_and_syncing) {
  plan->script(fault_point::allocate, 0, fault::fail(ENOSPC));
  plan->script(fault_point::resize, 1, fault::fail(EIO));
  EXPECT_THROW(target.allocate(0, 10), io_error);
  target.resize(10);
  EXPECT_THROW(target.resize(20), io_error);
  EXPECT_EQ(target.size_bytes(), 10U);
  plan->script(fault_point::sync, 0, fault::fail(EIO));
  EXPECT_THROW(target.sync(), io_error);
  target.sync();
}

}  // namespace
}  // namespace outsize::io
