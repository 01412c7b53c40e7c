// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Plans stay within their memory, refuse what cannot work and say how much is needed.

#include <outsize/algorithm/sort_plan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include <outsize/base/error.hpp>

namespace outsize {
namespace {

TEST(sort_plan, divides_no_more_memory_than_there_is) {
  for (std::uint64_t memory : {2_MiB, 3_MiB, 16_MiB, 100_MiB, 1_GiB})
    for (std::size_t item : {std::size_t{0}, std::size_t{8}, std::size_t{100}})
      for (std::uint64_t input :
           {std::uint64_t{0}, std::uint64_t{memory} / 2, std::uint64_t{memory} * 20}) {
        auto const plan = plan_sort(
            {.memory_bytes = memory, .input_bytes = input, .item_bytes = item, .threads = 2});
        EXPECT_LE(plan.chunk_bytes * plan.chunks + plan.write_buffers * plan.block_bytes +
                      plan.index_bytes,
                  memory);
        EXPECT_GE(plan.chunk_bytes, plan.block_bytes);
        auto const shape = shape_merge(memory - plan.index_bytes, plan.block_bytes, 2);
        EXPECT_GE(shape.fan_in, 2U);
        EXPECT_LE((shape.fan_in + 2 * shape.ahead + shape.output) * plan.block_bytes,
                  memory - plan.index_bytes);
      }
}

TEST(sort_plan, keeps_in_memory_what_fits_and_spills_the_rest) {
  auto const small = plan_sort({.memory_bytes = 64_MiB, .input_bytes = 40_MiB, .item_bytes = 8});
  EXPECT_EQ(small.runs, 0U);
  EXPECT_EQ(small.passes, 0U);
  EXPECT_EQ(small.peak_disk_bytes, 0U);
  EXPECT_EQ(small.read_bytes, 40_MiB);
  auto const large = plan_sort({.memory_bytes = 64_MiB, .input_bytes = 1_GiB, .item_bytes = 8});
  EXPECT_GT(large.runs, 16U);
  EXPECT_EQ(large.passes, 1U);
  std::uint64_t const kept = large.kept_chunks * large.chunk_bytes;
  EXPECT_GE(large.peak_disk_bytes, 1_GiB - kept);
  EXPECT_LE(large.written_bytes, 2_GiB);
  EXPECT_GE(large.written_bytes, 2_GiB - kept);
}

TEST(sort_plan, says_from_which_memory_on_it_works_takes_one_pass_and_needs_no_disk) {
  for (std::uint64_t const input : {40_MiB, 1_GiB, std::uint64_t{64_GiB}})
    for (std::size_t const item : {0, 8, 100}) {
      sort_job job{.input_bytes = input, .item_bytes = item, .threads = 2};
      auto const needs = needs_of(job);
      EXPECT_LE(needs.least_bytes, needs.knee_bytes);
      EXPECT_LE(needs.knee_bytes, needs.most_bytes);
      job.memory_bytes = needs.least_bytes;
      EXPECT_NO_THROW(plan_sort(job));
      job.memory_bytes = needs.knee_bytes;
      EXPECT_LE(plan_sort(job).passes, 1U);
      job.memory_bytes = std::max(needs.knee_bytes / 2, needs.least_bytes);
      EXPECT_GE(plan_sort(job).passes, needs.least_bytes < needs.knee_bytes / 2 ? 2U : 1U);
      job.memory_bytes = needs.most_bytes;
      EXPECT_EQ(plan_sort(job).runs, 0U);
      job.memory_bytes = needs.most_bytes / 10 * 9;
      EXPECT_GT(plan_sort(job).runs, 0U);
    }
  EXPECT_GT(needs_of({.item_bytes = 8}).knee_bytes, std::uint64_t{1} << 60);
}

TEST(sort_plan, counts_what_lies_beside_items_in_chunks) {
  auto const plan = [](std::size_t entry_bytes) {
    return plan_sort({.memory_bytes = 64_MiB,
                      .input_bytes = 1_GiB,
                      .item_bytes = 24,
                      .chunk_entry_bytes = entry_bytes});
  };
  auto const with = plan(16), without = plan(0);
  EXPECT_EQ(with.run_bytes, with.chunk_bytes / 40 * 24);
  EXPECT_EQ(without.run_bytes, without.chunk_bytes / 24 * 24);
  EXPECT_EQ(with.runs + with.kept_chunks, div_up(1_GiB, with.run_bytes));
  EXPECT_GT(with.runs, without.runs);
}

TEST(sort_plan, gives_records_of_any_length_more_chunks_only_if_they_are_known_to_be_spilled) {
  auto const chunks = [](std::optional<std::uint64_t> input, std::size_t threads) {
    return plan_sort({.memory_bytes = 64_MiB,
                      .input_bytes = input,
                      .chunk_entry_bytes = 16,
                      .threads = threads})
        .chunks;
  };
  EXPECT_EQ(chunks(std::nullopt, 2), 3U);
  EXPECT_EQ(chunks(10_MiB, 2), 3U);
  EXPECT_EQ(chunks(500_MiB, 2), 6U);
  // Six would mean smaller blocks; four are for two threads.
  EXPECT_EQ(chunks(800_MiB, 2), 4U);
  EXPECT_EQ(chunks(800_MiB, 4), 3U);
}

TEST(sort_plan, gives_each_of_many_threads_a_chunk_where_blocks_stay_as_long) {
  auto const plan_for = [](std::uint64_t memory, std::size_t item, std::size_t threads) {
    return plan_sort({.memory_bytes = memory,
                      .input_bytes = 8 * memory,
                      .item_bytes = item,
                      .threads = threads});
  };
  EXPECT_EQ(plan_for(512_MiB, 8, 4).chunks, 6U);
  EXPECT_EQ(plan_for(1_GiB, 8, 16).chunks, 18U);
  EXPECT_EQ(plan_for(1_GiB, 8, 16).sorts_at_once, 16U);
  EXPECT_EQ(plan_for(256_MiB, 8, 16).chunks, 10U) << "two threads for each chunk";
  EXPECT_EQ(plan_for(256_MiB, 8, 64).chunks, 10U) << "eight";
  EXPECT_EQ(plan_for(1_GiB, 0, 16).chunks, 10U) << "records as long as those of a merge";
  EXPECT_EQ(plan_sort({.memory_bytes = 1_GiB, .item_bytes = 8, .threads = 16}).chunks, 6U)
      << "who knows how many runs";
  for (std::size_t threads : {5, 7, 16, 64}) {
    auto const of_one = plan_for(4_GiB, 8, 1), plan = plan_for(4_GiB, 8, threads);
    EXPECT_EQ(plan.chunks, std::max(of_one.chunks, threads + 2));
    EXPECT_EQ(plan.block_bytes, of_one.block_bytes);
    EXPECT_EQ(plan.passes, of_one.passes);
  }
}

TEST(sort_plan, has_more_chunks_of_more_memory_not_longer_ones) {
  for (std::uint64_t memory : {1_GiB, 3_GiB, 16_GiB})
    for (std::size_t item : {8, 100})
      for (std::size_t threads : {1, 2, 16})
        for (bool const out_of_place : {false, true}) {
          sort_job job{.memory_bytes = memory,
                       .input_bytes = 10 * memory,
                       .item_bytes = item,
                       .out_of_place = out_of_place,
                       .threads = threads};
          auto const plan = plan_sort(job);
          EXPECT_LE(plan.chunk_bytes, 80_MiB);
          EXPECT_TRUE(plan.chunk_bytes > 40_MiB || plan.chunks == threads + 2);
          EXPECT_EQ(plan.sorts_at_once, threads);
          EXPECT_EQ(plan.passes, 1U);
          job.input_bytes.reset();
          EXPECT_EQ(plan_sort(job).chunks, 6U) << "who knows how many runs";
        }
  auto const of_much = [](std::uint64_t input) {
    return plan_sort({.memory_bytes = 1_GiB, .input_bytes = input, .item_bytes = 8, .threads = 2});
  };
  EXPECT_EQ(of_much(60_GiB).passes, 1U);
  EXPECT_GT(of_much(60_GiB).chunk_bytes, 80_MiB) << "so that one merge takes them all";
  EXPECT_EQ(of_much(60_GiB).block_bytes, of_much(10_GiB).block_bytes);
}

TEST(sort_plan, shortens_blocks_where_that_spares_a_pass_only) {
  auto const plan_for = [](std::uint64_t memory) {
    return plan_sort({.memory_bytes = memory, .input_bytes = 2_GiB, .item_bytes = 8, .threads = 1});
  };
  auto const plan = plan_for(28_MiB);
  EXPECT_EQ(plan.passes, 1U);
  EXPECT_EQ(plan.block_bytes, 64_KiB);
  auto const less = plan_for(16_MiB);
  EXPECT_EQ(less.passes, 2U);
  EXPECT_EQ(less.block_bytes, 128_KiB);
}

TEST(sort_plan, has_blocks_half_as_long_where_only_so_each_thread_gets_a_chunk) {
  auto const plan_for = [](std::uint64_t input, std::size_t threads) {
    return plan_sort({.memory_bytes = 128_MiB,
                      .input_stream_bytes = 10_MiB,
                      .input_bytes = input,
                      .item_bytes = 8,
                      .codec = run_codec::automatic,
                      .key_codec = true,
                      .threads = threads});
  };
  auto const few = plan_for(2_GiB, 1), many = plan_for(2_GiB, 2);
  EXPECT_EQ(few.chunks, 3U) << "one thread has one anyway";
  EXPECT_EQ(many.chunks, 6U);
  EXPECT_EQ(many.sorts_at_once, 2U);
  EXPECT_EQ(many.block_bytes, few.block_bytes / 2);
  EXPECT_EQ(many.passes, few.passes);
  EXPECT_EQ(plan_for(2_GiB, 4).chunks, 6U);
  EXPECT_EQ(plan_for(2_GiB, 5).chunks, 3U) << "of six chunks two threads would sort one";
  EXPECT_EQ(plan_for(1_GiB, 2).block_bytes, few.block_bytes) << "which is no reason to be shorter";
}

TEST(sort_plan, has_chunks_for_any_record_that_the_merge_can_hold) {
  for (std::uint64_t memory : {2_MiB, 3_MiB, 16_MiB, 512_MiB})
    for (std::uint64_t times : {1, 2, 10, 100})
      for (std::size_t threads : {1, 2, 5, 32}) {
        auto const plan =
            plan_sort({.memory_bytes = memory, .input_bytes = memory * times, .threads = threads});
        EXPECT_GT(plan.chunk_bytes, memory / 16) << memory << ' ' << times << ' ' << threads;
      }
}

TEST(sort_plan, keeps_the_last_chunks_where_the_merge_needs_only_a_part_of_the_memory) {
  for (std::uint64_t input : {20_MiB, 100_MiB, 300_MiB, 1_GiB, 3_GiB}) {
    auto const plan =
        plan_sort({.memory_bytes = 16_MiB, .input_bytes = input, .item_bytes = 8, .threads = 2});
    std::uint64_t const chunks = div_up<std::uint64_t>(input, plan.chunk_bytes);
    ASSERT_EQ(plan.runs + plan.kept_chunks, chunks);
    auto const shape = shape_merge(plan.merge_bytes - plan.kept_chunks * plan.chunk_bytes,
                                   plan.block_bytes, 2, static_cast<std::size_t>(plan.runs));
    auto const alone = shape_merge(plan.merge_bytes, plan.block_bytes, 2);
    if (plan.kept_chunks > 0) {
      EXPECT_EQ(shape.fan_in, plan.runs) << input;
      EXPECT_GE(shape.ahead, alone.ahead) << input;
    }
    if (input <= 100_MiB) {
      EXPECT_GT(plan.kept_chunks, 0U) << input;
    }
    if (input >= 1_GiB) {
      EXPECT_EQ(plan.kept_chunks, 0U) << input;
    }
    EXPECT_EQ(chunks_beside_merge(plan, chunks, plan.block_bytes), plan.kept_chunks);
  }
}

TEST(sort_plan, holds_longer_blocks_in_a_merge_where_runs_may_be_encoded_as_keys) {
  sort_job job{.memory_bytes = 512_MiB, .input_bytes = 4_GiB, .item_bytes = 8, .threads = 2};
  sort_plan const plain = plan_sort(job);
  EXPECT_EQ(plain.held_bytes, plain.block_bytes);
  job.codec = run_codec::automatic;
  EXPECT_EQ(plan_sort(job).held_bytes, plain.block_bytes);
  job.key_codec = true;
  sort_plan const encoded = plan_sort(job);
  EXPECT_EQ(encoded.block_bytes, plain.block_bytes);
  EXPECT_EQ(encoded.held_bytes, plain.block_bytes * 3 / 2);
  EXPECT_EQ(encoded.passes, 1U);
  EXPECT_LE(encoded.kept_chunks, plain.kept_chunks);
  auto const left = encoded.merge_bytes - encoded.kept_chunks * encoded.chunk_bytes;
  EXPECT_GE(shape_merge(left, encoded.held_bytes, 2).fan_in, encoded.runs);

  job.block_bytes = 1_MiB;  // so long that a merge has room for them only as they are
  job.memory_bytes = 12_MiB;
  job.input_bytes = 32_MiB;
  EXPECT_EQ(plan_sort(job).codec, run_codec::none);

  job.block_bytes = 32_KiB;  // too short to be made shorter
  EXPECT_EQ(plan_sort(job).codec, run_codec::none);
  job.codec = run_codec::always;
  EXPECT_EQ(plan_sort(job).codec, run_codec::always);
}

TEST(sort_plan, keeps_no_chunk_if_that_makes_a_merge_of_more_than_there_may_be) {
  sort_job job{.memory_bytes = 16_MiB,
               .input_bytes = 50_MiB,
               .item_bytes = 8,
               .block_bytes = 128_KiB,
               .threads = 2};
  std::size_t keeping = 0;
  for (job.most_fan_in = 2; job.most_fan_in < 40; ++job.most_fan_in) {
    auto const plan = plan_sort(job);
    if (plan.kept_chunks == 0) continue;
    EXPECT_LE(plan.runs + plan.kept_chunks, job.most_fan_in);
    ++keeping;
  }
  EXPECT_GT(keeping, 10U);
}

TEST(merge_shape, has_longer_rounds_where_the_runs_are_few) {
  auto const any = shape_merge(64_MiB, 64_KiB, 2);
  auto const few = shape_merge(64_MiB, 64_KiB, 2, 10);
  EXPECT_EQ(few.fan_in, 10U);
  EXPECT_GT(few.ahead, any.ahead);
  EXPECT_LE((few.fan_in + 2 * few.ahead + few.output) * 64_KiB, 64_MiB);
}

TEST(sort_plan, merges_in_several_passes_when_memory_is_short) {
  auto const plan = plan_sort(
      {.memory_bytes = 4_MiB, .input_bytes = 8_GiB, .item_bytes = 8, .index_entry_bytes = 1});
  EXPECT_GT(plan.passes, 1U);
  EXPECT_GT(plan.written_bytes, 2 * 8_GiB);
}

TEST(sort_plan, merges_no_more_runs_at_once_than_it_may) {
  sort_job job{.memory_bytes = 4_MiB, .input_bytes = 40_MiB, .item_bytes = 8};
  EXPECT_EQ(plan_sort(job).passes, 1U);
  job.most_fan_in = 2;
  auto const plan = plan_sort(job);
  EXPECT_GE(std::uint64_t{1} << plan.passes, plan.runs);
  EXPECT_EQ(shape_merge(4_MiB, 32_KiB, 1, 7).fan_in, 7U);
  EXPECT_EQ(shape_merge(8 * 4096, 4096, 1, 7).fan_in, 2U);
}

TEST(sort_plan, refuses_merges_of_single_runs) {
  EXPECT_THROW(plan_sort({.memory_bytes = 2_MiB, .input_bytes = 1_GiB, .most_fan_in = 1}),
               std::invalid_argument);
}

TEST(sort_plan, knows_nothing_of_runs_without_the_size_of_the_input) {
  auto const plan = plan_sort({.memory_bytes = 64_MiB, .item_bytes = 8});
  EXPECT_EQ(plan.runs, 0U);
  EXPECT_EQ(plan.read_bytes, 0U);
  EXPECT_GT(plan.index_bytes, 0U);
}

TEST(sort_plan, refuses_a_budget_below_the_minimum) {
  try {
    plan_sort({.memory_bytes = 1_MiB, .item_bytes = 8});
    FAIL() << "a budget of 1 MiB was accepted";
  } catch (budget_error const& e) {
    EXPECT_EQ(e.have_bytes(), 1_MiB);
    EXPECT_EQ(e.need_bytes(), min_sort_memory_bytes);
  }
  EXPECT_NO_THROW(plan_sort({.memory_bytes = min_sort_memory_bytes, .item_bytes = 8}));
}

TEST(sort_plan, gives_a_part_of_something_larger_less_than_the_minimum) {
  auto const small = with_memory({}, 600_KiB);
  EXPECT_EQ(small.memory_bytes, 600_KiB);
  EXPECT_NO_THROW(plan_sort(
      {.memory_bytes = small.memory_bytes, .block_bytes = small.block_bytes, .threads = 2}));
  EXPECT_EQ(with_memory({}, 4_MiB).block_bytes, 0U);
  EXPECT_EQ(with_memory({.block_bytes = 4096}, 64_KiB).block_bytes, 4096U);
}

TEST(sort_plan, names_a_budget_that_would_do_for_an_input_with_too_many_blocks) {
  sort_job job{.memory_bytes = 2_MiB, .input_bytes = 100_GiB, .item_bytes = 8};
  try {
    plan_sort(job);
    FAIL() << "100 GiB in 2 MiB were accepted";
  } catch (budget_error const& e) {
    EXPECT_EQ(e.have_bytes(), 2_MiB);
    job.memory_bytes = e.need_bytes();
    EXPECT_NO_THROW(plan_sort(job));
  }
}

TEST(sort_plan, gives_a_merge_all_its_buffers_or_none) {
  EXPECT_EQ(shape_merge(7 * 4096, 4096, 1).fan_in, 0U);
  auto const least = shape_merge(8 * 4096, 4096, 1);
  EXPECT_EQ(least.fan_in, 2U);
  EXPECT_GE(least.ahead, 1U);
  EXPECT_GE(least.output, 4U);
}

TEST(sort_plan, of_little_memory_takes_longer_blocks_for_a_long_index) {
  auto const plan_of = [](std::uint64_t memory_bytes, std::uint64_t coming_bytes) {
    auto const options = with_memory({}, memory_bytes, coming_bytes);
    return plan_sort({.memory_bytes = options.memory_bytes,
                      .input_bytes = options.input_bytes,
                      .block_bytes = options.block_bytes});
  };
  auto const blocks_of_index = [](sort_plan const& plan) { return plan.index_bytes / 64; };
  EXPECT_EQ(plan_of(1536_KiB, 20_MiB).block_bytes, 32_KiB);
  EXPECT_EQ(plan_of(1536_KiB, 20_MiB).input_bytes, std::nullopt) << "its index is no matter";
  auto const longer = plan_of(1_MiB, 110_MiB);
  EXPECT_EQ(longer.block_bytes, 64_KiB);
  EXPECT_GE(blocks_of_index(longer) * longer.block_bytes, 110_MiB);
  EXPECT_THROW(plan_of(512_KiB, 110_MiB), budget_error) << "told before the work";
}

}  // namespace
}  // namespace outsize
