// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// All parts of a plan fit into the memory, for items and blocks of any length.

#include <outsize/container/detail/priority/queue_plan.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>

namespace outsize::detail {
namespace {

using namespace literals;

std::uint64_t bytes_of(queue_plan const& p, queue_needs const& needs) {
  auto const pages = [](std::uint64_t bytes) {
    return round_up<std::uint64_t>(bytes, page_bytes());
  };
  std::uint64_t const scratch = needs.needs_scratch ? 2 * p.sorters * pages(p.segment_bytes) : 0;
  return p.slabs * p.slab_bytes + pages(p.window_items * needs.item_bytes) +
         pages(p.leftover_items * needs.item_bytes) + pages(needs.item_bytes) + scratch +
         (p.frames + p.write_frames) * p.block_bytes;
}

TEST(queue_plans, fit_into_their_memory) {
  for (std::uint64_t memory = 256_KiB; memory < 16_GiB; memory += memory / 3)
    for (std::size_t const item : {4U, 8U, 100U, 5000U, 100'000U})
      for (std::size_t const block : {0U, 4096U, 32768U, 1U << 20})
        for (std::size_t const threads : {1U, 2U, 16U}) {
          queue_needs const needs{.memory_bytes = memory,
                                  .block_bytes = block,
                                  .item_bytes = item,
                                  .block_unit_bytes = 4096,
                                  .threads = threads,
                                  .needs_scratch = item > 8};
          if (memory < least_queue_bytes(needs)) {
            EXPECT_THROW(plan_queue(needs, "test"), budget_error);
            continue;
          }
          auto const p = plan_queue(needs, "test");
          SCOPED_TRACE(testing::Message() << memory << " bytes, items of " << item << ", blocks of "
                                          << block << ", threads " << threads);
          EXPECT_LE(bytes_of(p, needs), memory);
          EXPECT_EQ(p.slab_bytes % p.block_bytes, 0U);
          EXPECT_GE(p.slab_items(item), p.near_items);
          EXPECT_GE(p.window_items, p.near_items);
          EXPECT_GE(p.near_items, 2U);
          EXPECT_GE(p.write_frames, 2U);
          EXPECT_GE(p.frames, p.most_arrays + 2 * p.ahead);
          EXPECT_GE(p.most_arrays, 3U);
        }
}

TEST(queue_plans, need_as_much_as_they_say) {
  for (std::size_t const item : {4U, 100U, 4096U, 5000U, 100'000U})
    for (std::size_t const block : {0U, 4096U, 1U << 20})
      for (std::size_t const threads : {1U, 16U}) {
        queue_needs needs{.block_bytes = block,
                          .item_bytes = item,
                          .block_unit_bytes = 4096,
                          .threads = threads,
                          .needs_scratch = item > 8};
        needs.memory_bytes = least_queue_bytes(needs);
        SCOPED_TRACE(testing::Message() << needs.memory_bytes << " bytes, items of " << item
                                        << ", blocks of " << block << ", threads " << threads);
        auto const p = plan_queue(needs, "test");
        EXPECT_GE(p.frames, p.most_arrays + 2 * p.ahead);
        EXPECT_LE(bytes_of(p, needs), needs.memory_bytes);
        --needs.memory_bytes;
        EXPECT_THROW(plan_queue(needs, "test"), budget_error);
      }
}

}  // namespace
}  // namespace outsize::detail
