// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Divisions of the memory: always within it, sensible for the sizes that people use, refused where
// there is none.

#include <outsize/numeric/detail/bmmc_loads.hpp>

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <string>

#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/pipeline/file_stages.hpp>

namespace outsize::numeric {
namespace {

TEST(bmmc_loads, reverse_the_bits_of_16_times_the_memory_in_one_pass) {
  affine_map const map{bit_matrix::bit_reversal(29), 0};
  auto const loads =
      choose_bmmc_loads(map, {.record_bytes = 8, .memory_bytes = 256_MiB, .alignment_bytes = 4096});
  EXPECT_EQ(loads, (bmmc_loads{{23, 11}, 4}));
  bmmc_plan const plan(map, loads.sizes);
  ASSERT_EQ(plan.passes().size(), 1U);
  EXPECT_EQ(source_request_bytes(plan.passes()[0], 8), 32_KiB);
  EXPECT_EQ(target_request_bytes(plan.passes()[0], 8), 16_KiB);
}

TEST(bmmc_loads, take_long_requests_where_one_pass_would_need_tiny_ones) {
  affine_map const map{bit_matrix::bit_reversal(32), 0};
  auto const loads =
      choose_bmmc_loads(map, {.record_bytes = 8, .memory_bytes = 8_MiB, .alignment_bytes = 512});
  bmmc_plan const plan(map, loads.sizes);
  EXPECT_EQ(plan.passes().size(), 2U);
  for (bmmc_pass const& pass : plan.passes()) EXPECT_GE(target_request_bytes(pass, 8), 32_KiB);
}

TEST(bmmc_loads, join_blocks_where_none_is_torn) {
  affine_map const map{bit_matrix::gray_code(29), 0};
  auto const loads = choose_bmmc_loads(map, {.record_bytes = 8, .memory_bytes = 256_MiB});
  bmmc_plan const plan(map, loads.sizes);
  EXPECT_EQ(plan.passes().size(), 1U);
  EXPECT_EQ(source_request_bytes(plan.passes()[0], 8), pipeline::most_request_bytes);
  EXPECT_EQ(loads.buffer_count, 4U);
}

TEST(bmmc_loads, obey_the_block_that_is_asked_for) {
  affine_map const map{bit_matrix::bit_reversal(20), 0};
  bmmc_limits limits{.record_bytes = 8, .memory_bytes = 1_MiB, .alignment_bytes = 512};
  limits.block_bytes = 4096;
  EXPECT_EQ(choose_bmmc_loads(map, limits).sizes.block_bits, 9U);
  for (std::size_t const wrong : {4095U, 256U, 4U}) {
    limits.block_bytes = wrong;
    try {
      choose_bmmc_loads(map, limits);
      ADD_FAILURE() << wrong;
    } catch (std::invalid_argument const& e) {
      EXPECT_NE(std::string(e.what()).find(std::to_string(wrong)), std::string::npos) << e.what();
    }
  }
}

TEST(bmmc_loads, are_refused_below_two_loads) {
  affine_map const map{bit_matrix::bit_reversal(20), 0};
  bmmc_limits limits{.record_bytes = 8, .memory_bytes = 0, .alignment_bytes = 4096};
  limits.memory_bytes = 4 * page_bytes() - 1;
  try {
    choose_bmmc_loads(map, limits);
    ADD_FAILURE() << "found loads in too little memory";
  } catch (budget_error const& e) {
    EXPECT_EQ(e.need_bytes(), 4 * page_bytes());
  }
  limits.memory_bytes = 4 * page_bytes();
  EXPECT_EQ(choose_bmmc_loads(map, limits), (bmmc_loads{{10, 9}, 2}));
}

TEST(bmmc_loads, never_exceed_the_memory) {
  std::uint64_t const seed = 21;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE("seed 21, round " + std::to_string(round));
    auto const size = static_cast<unsigned>(random() % 24);
    affine_map const map{bit_matrix::bit_reversal(size), 0};
    bmmc_limits const limits{.record_bytes = std::size_t{1} << random() % 7,
                             .memory_bytes = 16_KiB + random() % (1_MiB << random() % 8),
                             .alignment_bytes = std::size_t{512} << random() % 4};
    auto const loads = choose_bmmc_loads(map, limits);
    EXPECT_GE(loads.buffer_count, 2U);
    EXPECT_LE(loads.buffer_count * (limits.record_bytes << loads.sizes.memory_bits),
              limits.memory_bytes);
    EXPECT_GE(limits.record_bytes << loads.sizes.block_bits,
              std::min(limits.alignment_bytes, limits.record_bytes << size));
    EXPECT_NO_THROW(bmmc_plan(map, loads.sizes));
  }
}

}  // namespace
}  // namespace outsize::numeric
