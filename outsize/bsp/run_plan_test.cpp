// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/run_plan.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/counted_storage.hpp>

namespace outsize::bsp {
namespace {

using namespace literals;
using testing::HasSubstr;

TEST(run_plan, gives_each_as_much_as_fits_two_more_times_than_run) {
  scratch::counted_storage disks(512_MiB);
  run_plan const plan = plan_run(disks.store, 64, {.workers = 2});
  EXPECT_EQ(plan.memory_bytes, 512_MiB);
  EXPECT_EQ(plan.message_bytes, 64_MiB);
  EXPECT_GE(plan.context_bytes, 108_MiB);
  EXPECT_LE(4 * plan.context_bytes, plan.frame_bytes);
  EXPECT_LE(plan.frame_bytes + plan.message_bytes + plan.stack_bytes, 512_MiB);
  EXPECT_THAT(plan.explain(), HasSubstr("64 virtual processors, 2 at a time"));
}

TEST(run_plan, gives_few_processors_all_that_there_is) {
  scratch::counted_storage disks(64_MiB);
  run_plan const plan = plan_run(disks.store, 2, {.workers = 8});
  EXPECT_EQ(plan.workers, 2U);
  EXPECT_GE(2 * plan.context_bytes, 50_MiB);
}

TEST(run_plan, refuses_contexts_that_do_not_fit) {
  scratch::counted_storage disks(64_MiB);
  EXPECT_EQ(plan_run(disks.store, 8, {.context_bytes = 10_MiB, .workers = 2}).context_bytes,
            10_MiB);
  try {
    plan_run(disks.store, 8, {.context_bytes = 20_MiB, .workers = 2});
    ADD_FAILURE();
  } catch (budget_error const& e) {
    EXPECT_THAT(e.what(), HasSubstr("4 contexts of 20"));
    EXPECT_EQ(e.have_bytes(), 64_MiB);
    EXPECT_GT(e.need_bytes(), 80_MiB);
  }
  EXPECT_THROW(plan_run(disks.store, 8, {.memory_bytes = 100_KiB}), budget_error);
  EXPECT_THROW(plan_run(disks.store, 0, {}), std::invalid_argument);
}

TEST(run_plan, of_mapped_files_counts_messages_and_stacks_alone) {
  run_options const asked{.memory_bytes = 64_MiB, .workers = 16, .stack_bytes = 64_KiB};
  run_plan const plan = plan_mapped(16, asked, 256_KiB);
  EXPECT_EQ(plan.context_bytes, 64_MiB);
  EXPECT_EQ(plan.frame_bytes, 16 * 64_MiB);
  EXPECT_EQ(plan.resident_bytes(), 16 * 256_KiB);
  EXPECT_THAT(plan.explain(), HasSubstr("files that the kernel pages"));

  run_options large = asked;  // than the memory
  large.context_bytes = 1_GiB;
  EXPECT_EQ(plan_mapped(16, large, 256_KiB).frame_bytes, 16_GiB);
  EXPECT_THROW(plan_memory(16, large, 256_KiB), budget_error);
  run_options small = asked;
  small.memory_bytes = 4_MiB;
  EXPECT_THROW(plan_mapped(16, small, 256_KiB), budget_error);
}

}  // namespace
}  // namespace outsize::bsp
