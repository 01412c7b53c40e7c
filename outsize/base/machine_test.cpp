// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/machine.hpp>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

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

TEST(machine, allows_to_start_what_limits_leave) {
  startable_tasks const tasks = available_tasks();
  EXPECT_EQ(tasks.count == ~std::uint64_t{0}, tasks.limit.empty());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NPROC, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NPROC, &none), 0);
  startable_tasks const without = available_tasks();
  ASSERT_EQ(::setrlimit(RLIMIT_NPROC, &before), 0);
  if (::geteuid() == 0) return;  // the limit may not apply
  EXPECT_EQ(without.count, 0U);
  EXPECT_NE(without.limit.find("RLIMIT_NPROC"), std::string::npos);
}

TEST(machine, leaves_room_beside_a_budget_that_nobody_chose) {
  for (std::uint64_t mib : {6, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128, 256, 1024, 1 << 20})
    for (std::size_t threads : {1, 2, 3, 8, 64, 1024}) {
      SCOPED_TRACE(std::to_string(mib) + " MiB, " + std::to_string(threads) + " threads");
      auto const division = divide_memory(mib * 1_MiB, threads, 0);
      EXPECT_GE(division.threads, 1U);
      EXPECT_LE(division.threads, threads);
      EXPECT_GE(division.budget_bytes, 2_MiB);
      EXPECT_LE(division.budget_bytes, std::max(mib * 1_MiB / 2, 2_MiB));
      if (mib >= 16) {
        EXPECT_GE(mib * 1_MiB, division.budget_bytes + (8 + division.threads) * 1_MiB);
        EXPECT_GE(division.budget_bytes, mib * 1_MiB / 3);
      }
      if (mib >= 4096) {
        EXPECT_EQ(division.threads, threads);
        EXPECT_EQ(division.budget_bytes, mib * 1_MiB / 2);
      }
    }
}

TEST(machine, leaves_room_for_codecs_beside_a_budget_that_nobody_chose) {
  for (std::uint64_t mib : {24, 32, 48, 64, 128, 1024}) {
    auto const division = divide_memory(mib * 1_MiB, 2, 18_MiB);
    EXPECT_GE(division.codec_bytes, 18_MiB);
    EXPECT_LE(division.budget_bytes + division.codec_bytes, mib * 1_MiB - 4_MiB);
  }
  EXPECT_EQ(divide_memory(1_GiB, 2, 18_MiB).budget_bytes, 512_MiB);
  try {
    divide_memory(20_MiB, 2, 18_MiB);
    ADD_FAILURE() << "there is too little";
  } catch (budget_error const& e) {
    EXPECT_EQ(e.need_bytes(), 24_MiB);
    EXPECT_STREQ(e.what(),
                 "there are 20 MiB of memory, of which compressed files take 18 MiB; need at "
                 "least 24 MiB");
  }
  EXPECT_THROW(divide_memory(5_MiB, 1, 0), budget_error);
}

TEST(machine, bounds_teams_by_the_budget_they_work_with) {
  EXPECT_EQ(most_threads_for(0), 16U);
  EXPECT_EQ(most_threads_for(64_MiB), 16U);
  EXPECT_EQ(most_threads_for(256_MiB), 64U);
  EXPECT_EQ(most_threads_for(16_GiB), 4096U);
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
