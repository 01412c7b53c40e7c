// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/file.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>

#include <outsize/base/error.hpp>
#include <outsize/io/decorators/fault_plan.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/decorators/throttled_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::io {
namespace {

TEST(file, an_empty_request_completes_without_an_attempt) {
  auto const target = make_memory_file("empty");
  bool called = false;
  auto const r = target->read(0, {}, [&](request const&, outcome how) { called = how.ok(); });
  EXPECT_EQ(r->wait(), 0U);
  EXPECT_TRUE(called);
  EXPECT_EQ(r->attempt_count(), 0U);
}

TEST(file, counts_only_while_told_to) {
  auto const target = make_memory_file("counted");
  std::array<std::byte, 8> bytes{};
  statistics counter;
  target->write(0, bytes)->wait();
  target->count_into(&counter);
  target->write(0, bytes)->wait();
  target->count_into(nullptr);
  target->write(0, bytes)->wait();
  EXPECT_EQ(counter.snapshot().write_count, 1U);
  EXPECT_EQ(counter.snapshot().write_bytes, 8U);
}

TEST(file, allocates_what_there_is_room_for) {
  auto const target = make_memory_file("small", 1000);
  EXPECT_EQ(target->allocate_some(0, 100, 400), 400U);
  EXPECT_EQ(target->allocate_some(400, 100, 1600), 400U);
  EXPECT_EQ(target->allocate_some(800, 150, 1600), 200U);
  EXPECT_EQ(target->allocate_some(900, 60, 100), 100U);
  try {
    target->allocate_some(800, 300, 700);
    FAIL() << "there is room for 200";
  } catch (io_error const& e) {
    EXPECT_TRUE(e.is_full());
    EXPECT_EQ(e.length_bytes(), 300U);
  }
}

TEST(file, makes_no_second_attempt_when_something_else_failed) {
  auto plan = std::make_shared<fault_plan>();
  plan->script(fault_point::allocate, 0, fault::fail(EIO));
  faulty_file target(make_memory_file("broken"), plan);
  EXPECT_THROW(target.allocate_some(0, 1, 1024), io_error);
  EXPECT_EQ(plan->calls(fault_point::allocate), 1U);
}

TEST(file, its_destructor_waits_for_requests) {
  std::array<std::byte, 8> bytes{};
  std::atomic<int> ended{0};
  {
    throttled_file slow(make_memory_file("slow"), {.latency = std::chrono::milliseconds(5)});
    for (int i = 0; i < 3; ++i) slow.write(0, bytes, [&](request const&, outcome) { ++ended; });
  }
  EXPECT_EQ(ended, 3);
}

TEST(file, refuses_what_is_not_aligned) {
  if (!OUTSIZE_ASSERTS) GTEST_SKIP() << "assertions are off";
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // other tests have left threads behind
  auto const target = make_memory_file("direct", 4096, {.alignment_bytes = 512});
  alignas(512) std::array<std::byte, 1024> bytes{};
  EXPECT_EQ(target->write(512, bytes)->wait(), 1024U);
  EXPECT_DEATH(target->write(1, bytes), "is_aligned");
  EXPECT_DEATH(target->write(0, std::span(bytes).first(100)), "is_aligned");
  EXPECT_DEATH(target->write(0, std::span(bytes).subspan(8, 512)), "is_aligned");
}

}  // namespace
}  // namespace outsize::io
