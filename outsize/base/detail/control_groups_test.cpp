// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/control_groups.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include <outsize/base/units.hpp>

namespace outsize::detail {
namespace {

namespace fs = std::filesystem;

/// Files as the kernel would show them.
struct control_groups : testing::Test {
  fs::path root =
      fs::path(testing::TempDir()) /
      ("groups_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
  fs::path membership = root / "membership";

  control_groups() { fs::create_directories(root); }
  ~control_groups() override { fs::remove_all(root); }

  void put(fs::path const& name, std::string const& text) const {
    fs::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text << '\n';
  }
  control_group_limits read() const { return read_control_group_limits(root, membership); }
};

TEST_F(control_groups, that_are_not_there_limit_nothing) {
  EXPECT_EQ(read().memory_bytes, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(read().threads, std::numeric_limits<std::size_t>::max());
  put("memory.max", "max");
  put("cpu.max", "max 100000");
  put("membership", "0::/");
  EXPECT_EQ(read().memory_bytes, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(read().threads, std::numeric_limits<std::size_t>::max());
}

TEST_F(control_groups, limit_what_is_inside_of_them) {
  put("membership", "0::/user/job");
  put("user/memory.max", "3000000");
  put("user/cpu.max", "max 100000");
  put("user/job/memory.max", "max");
  put("user/job/cpu.max", "250000 100000");
  EXPECT_EQ(read().memory_bytes, 3'000'000U);
  EXPECT_EQ(read().threads, 3U);
  put("user/job/memory.max", "2000000");
  put("user/cpu.max", "100000 100000");
  EXPECT_EQ(read().memory_bytes, 2'000'000U);
  EXPECT_EQ(read().threads, 1U);
  put("user/other/memory.max", "1");  // is somebody else's
  EXPECT_EQ(read().memory_bytes, 2'000'000U);
}

TEST_F(control_groups, of_the_first_version_are_found_by_controller) {
  put("membership", "5:memory:/job\n4:cpu,cpuacct:/job/step\n1:name=systemd:/elsewhere");
  put("memory/job/memory.limit_in_bytes", "5000000");
  put("memory/elsewhere/memory.limit_in_bytes", "1");
  put("cpu/job/cpu.cfs_quota_us", "400000");
  put("cpu/job/cpu.cfs_period_us", "100000");
  put("cpu/job/step/cpu.cfs_quota_us", "-1");
  put("cpu/job/step/cpu.cfs_period_us", "100000");
  EXPECT_EQ(read().memory_bytes, 5'000'000U);
  EXPECT_EQ(read().threads, 4U);
}

TEST_F(control_groups, leave_as_many_processes_as_the_narrowest_of_them) {
  put("membership", "0::/user/job\n3:pids:/user/job");
  put("user/job/pids.max", "max");
  put("user/job/pids.current", "10");
  EXPECT_EQ(read().tasks.left(), std::numeric_limits<std::uint64_t>::max());
  put("user/pids.max", "100");
  EXPECT_EQ(read().tasks.left(), std::numeric_limits<std::uint64_t>::max());  // not all is known
  put("user/pids.current", "40");
  EXPECT_EQ(read().tasks.left(), 60U);
  EXPECT_EQ(read().tasks.most, 100U);
  put("pids/user/job/pids.max", "50");
  put("pids/user/job/pids.current", "51");  // the limit was lowered
  EXPECT_EQ(read().tasks.left(), 0U);
  EXPECT_EQ(read().tasks.used, 51U);
}

TEST_F(control_groups, around_a_namespace_are_what_is_mounted) {
  put("membership", "0::/../../job");
  put("memory.max", "7000000");
  put("memory/memory.limit_in_bytes", "6000000");
  EXPECT_EQ(read().memory_bytes, 6'000'000U);
}

}  // namespace
}  // namespace outsize::detail
