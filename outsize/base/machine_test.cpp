// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/machine.hpp>

#include <sched.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

namespace outsize {
namespace {

TEST(machine, gives_between_one_thread_and_all_of_them) {
  EXPECT_GE(available_threads(), 1U);
  EXPECT_LE(available_threads(), std::max(1U, std::thread::hardware_concurrency()));
}

TEST(machine, obeys_the_affinity_mask) {
  std::size_t threads = 0;
  std::thread([&] {
    cpu_set_t mask;
    ASSERT_EQ(::sched_getaffinity(0, sizeof mask, &mask), 0);
    std::size_t cpu = 0;
    while (!CPU_ISSET(cpu, &mask)) ++cpu;
    CPU_ZERO(&mask);
    CPU_SET(cpu, &mask);
    ASSERT_EQ(::sched_setaffinity(0, sizeof mask, &mask), 0);  // of this thread only
    threads = available_threads();
  }).join();
  EXPECT_EQ(threads, 1U);
}

TEST(machine, has_memory) { EXPECT_GT(available_memory_bytes(), std::uint64_t{1} << 20); }

TEST(machine, tells_what_a_thread_had_of_a_processor) {
  auto const before = thread_processor_time();
  std::uint64_t volatile sum = 0;
  while (thread_processor_time() == before) sum = sum + 1;
  EXPECT_GT(thread_processor_time(), before);
}

TEST(machine, tells_what_all_threads_had_of_the_processors) {
  auto const before = process_processor_time();
  auto const works = [] {
    auto const begin = thread_processor_time();
    std::uint64_t volatile sum = 0;
    while (thread_processor_time() - begin < std::chrono::milliseconds(5)) sum = sum + 1;
  };
  std::thread other(works);
  other.join();
  EXPECT_GE(process_processor_time() - before, std::chrono::milliseconds(5));
}

}  // namespace
}  // namespace outsize
