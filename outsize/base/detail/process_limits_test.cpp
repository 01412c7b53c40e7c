// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/process_limits.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace outsize::detail {
namespace {

namespace fs = std::filesystem;

constexpr char const* first_namespace = "user:[4026531837]";
constexpr std::uint64_t none = task_limit{}.most;

/// Files as the kernel would show them.
struct process_limits : testing::Test {
  fs::path proc =
      fs::path(testing::TempDir()) /
      ("proc_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));

  process_limits() { fs::create_directories(proc); }
  ~process_limits() override { fs::remove_all(proc); }

  void put(std::string const& process, int user, int threads,
           std::string const& user_namespace = first_namespace,
           std::string const& capabilities = "0000000000000000") const {
    fs::path const folder = proc / process;
    fs::create_directories(folder / "ns");
    std::ofstream(folder / "status")
        << "Name:\ta name: of Uid:\nUmask:\t0022\nUid:\t" << user
        << "\t0\t0\t0\nGroups:\t \nThreads:\t" << threads
        << "\nCapInh:\t0000000000000000\nCapEff:\t" << capabilities << "\nSeccomp:\t0\n";
    fs::remove(folder / "ns/user");
    fs::create_symlink(user_namespace, folder / "ns/user");
  }
};

TEST_F(process_limits, counts_all_threads_of_the_user) {
  put("self", 1000, 1);
  put("12", 1000, 1);
  put("345", 1000, 17);
  put("346", 1001, 100);
  put("347", 1000, 100, "user:[4026532000]");  // another container's
  put("348", 0, 5);
  fs::create_directories(proc / "12b/net");
  std::ofstream(proc / "stat") << "cpu 1 2 3\n";
  task_limit const limit = read_user_task_limit(40, proc);
  EXPECT_EQ(limit.most, 40U);
  EXPECT_EQ(limit.used, 18U);
  EXPECT_EQ(limit.left(), 22U);
  EXPECT_EQ(read_user_task_limit(10, proc).left(), 0U);
}

TEST_F(process_limits, exempt_users_and_capabilities_outside_of_user_namespaces) {
  put("self", 0, 1);
  put("7", 0, 30);
  EXPECT_EQ(read_user_task_limit(10, proc).most, none);
  put("self", 1000, 1, first_namespace, "0000000001000000");  // CAP_SYS_RESOURCE
  EXPECT_EQ(read_user_task_limit(10, proc).most, none);
  put("self", 1000, 1, first_namespace, "0000000000200000");  // CAP_SYS_ADMIN
  EXPECT_EQ(read_user_task_limit(10, proc).most, none);
  put("self", 1000, 1, first_namespace, "0000000000000400");
  EXPECT_EQ(read_user_task_limit(10, proc).most, 10U);
  put("self", 0, 1, "user:[4026532000]", "000001ffffffffff");
  EXPECT_EQ(read_user_task_limit(10, proc).most, 10U);
}

TEST_F(process_limits, that_cannot_be_known_are_none) {
  EXPECT_EQ(read_user_task_limit(10, proc).most, none);
  put("self", 1000, 1);
  EXPECT_EQ(read_user_task_limit(none, proc).most, none);
  EXPECT_EQ(read_user_task_limit(10, proc / "nowhere").most, none);
  fs::remove(proc / "self/ns/user");
  EXPECT_EQ(read_user_task_limit(10, proc).most, none);
}

TEST(user_task_limit, counts_this_process) {
  task_limit const limit = read_user_task_limit(1'000'000'000);
  EXPECT_TRUE(limit.most == none || limit.used >= 1);
}

}  // namespace
}  // namespace outsize::detail
