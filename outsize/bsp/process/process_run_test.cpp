// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The plan of a run of processes. Runs themselves: tests/mpi.

#include <outsize/bsp/process/process_run.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

namespace outsize::bsp::process {
namespace {

using namespace literals;
using testing::HasSubstr;

run_plan plan_of(std::uint32_t ranks) {
  return {.count = ranks, .workers = 2, .memory_bytes = 1_GiB};
}

TEST(process_run, needs_a_process_for_each_rank_and_one_with_threads) {
  check_tasks(plan_of(64), {.count = 68, .limit = "a limit"});
  try {
    check_tasks(plan_of(64), {.count = 67, .limit = "pids.max of the control group is 80"});
    ADD_FAILURE();
  } catch (plan_error const& e) {
    EXPECT_THAT(e.what(), HasSubstr("64 ranks need 68 processes and threads"));
    EXPECT_THAT(e.what(), HasSubstr("no more than 67 can be started: pids.max of the control"));
  }
}

TEST(process_run, has_no_limit_where_none_is_known) { check_tasks(plan_of(1'000'000), {}); }

TEST(process_run, plans_with_private_memory_of_each_process) {
  run_plan const plan = plan_processes({.count = 20, .workers = 2, .memory_bytes = 64_MiB});
  EXPECT_EQ(plan.stack_bytes, 20 * 256_KiB);
  EXPECT_LE(plan.frame_bytes + plan.message_bytes + plan.stack_bytes, 64_MiB);
  EXPECT_GE(plan.frame_bytes, 4 * plan.context_bytes);
}

}  // namespace
}  // namespace outsize::bsp::process
