// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/process/memory_census.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <outsize/base/units.hpp>

namespace outsize::bsp::process {
namespace {

using namespace literals;
namespace fs = std::filesystem;

/// Files as the kernel would show them.
struct memory_census : testing::Test {
  fs::path proc =
      fs::path(testing::TempDir()) /
      ("census_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));

  memory_census() { fs::create_directories(proc); }
  ~memory_census() override { fs::remove_all(proc); }

  void put(pid_t pid, pid_t parent, std::string const& name = "rank") const {
    fs::create_directories(proc / std::to_string(pid));
    std::ofstream(proc / std::to_string(pid) / "stat")
        << pid << " (" << name << ") S " << parent << " 5 5 0 -1 4194304 100\n";
  }
  void put_sizes(pid_t pid, int pss, int shmem, int tables) const {
    std::ofstream(proc / std::to_string(pid) / "smaps_rollup")
        << "5600-7fff ---p 00000000 00:00 0    [rollup]\nRss:   99999 kB\nPss:     " << pss
        << " kB\nPss_Dirty:   777 kB\nPss_Shmem:  " << shmem << " kB\nSwap:  0 kB\n";
    std::ofstream(proc / std::to_string(pid) / "status")
        << "Name:\tPss: 7\nVmPeak:\t  5000 kB\nVmPTE:\t      " << tables << " kB\nThreads:\t3\n";
  }
};

TEST_F(memory_census, finds_all_processes_below_one) {
  put(10, 1);
  put(11, 10, "a) S 1 (b");
  put(12, 10);
  put(13, 12);
  put(14, 1);
  put(15, 14);
  fs::create_directories(proc / "16");  // has ended
  fs::create_directories(proc / "17x");
  std::vector<pid_t> found = processes_below(10, proc);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector<pid_t>{10, 11, 12, 13}));
}

TEST_F(memory_census, counts_shared_pages_once) {
  put(10, 1);
  put(11, 10);
  put_sizes(10, 1000, 300, 40);
  put_sizes(11, 500, 200, 60);
  memory_use const mapped = measure_memory({10, 11, 12}, 400_KiB, proc);
  EXPECT_EQ(mapped.shared_bytes, 500_KiB);
  EXPECT_EQ(mapped.process_bytes, 1000_KiB);
  EXPECT_EQ(mapped.page_table_bytes, 100_KiB);
  EXPECT_EQ(mapped.total_bytes(), 1600_KiB);
  EXPECT_EQ(measure_memory({10, 11}, 2000_KiB, proc).total_bytes(), 3100_KiB);  // most not mapped
  EXPECT_EQ(measure_memory({12}, 0, proc).total_bytes(), 0U);
}

TEST(memory_census_of_the_system, sees_this_process_and_its_child) {
  if (!fs::exists("/proc/self/smaps_rollup")) GTEST_SKIP() << "no smaps_rollup here";
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  pid_t const child = ::fork();
  if (child == 0) {
    char end = 0;
    ::close(ends[1]);
    ::_exit(::read(ends[0], &end, 1) < 0 ? 1 : 0);
  }
  ::close(ends[0]);
  std::vector<pid_t> const found = processes_below(::getpid());
  std::vector<char> const memory(8_MiB, 'x');
  memory_use const both = measure_memory(found, 0);
  ::close(ends[1]);
  ::waitpid(child, nullptr, 0);
  EXPECT_NE(std::find(found.begin(), found.end(), child), found.end());
  EXPECT_GE(both.process_bytes, memory.size());
  EXPECT_GT(both.page_table_bytes, 0U);
}

}  // namespace
}  // namespace outsize::bsp::process
