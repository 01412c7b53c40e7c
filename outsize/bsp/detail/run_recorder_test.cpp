// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A recorder against a model that keeps every step: bytes by superstep, times, and the timeline.

#include <outsize/bsp/detail/run_recorder.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace outsize::bsp::detail {
namespace {

std::int64_t moment_ns = 0;

run_recorder::clock::time_point told() {
  return run_recorder::clock::time_point(std::chrono::nanoseconds(moment_ns));
}

run_recorder recorder_at_zero(std::uint32_t count) {
  moment_ns = 0;
  return run_recorder(count, told);
}

TEST(run_recorder, divides_time_by_activity_and_superstep) {
  run_recorder record = recorder_at_zero(2);
  moment_ns = 10;
  record.begin_computing(0);
  moment_ns = 40;
  record.pass(0);
  moment_ns = 60;
  record.end_computing(0);
  record.move(0, 3);
  moment_ns = 65;
  record.move(0, -2);
  moment_ns = 70;
  record.move(0, -1);
  moment_ns = 100;
  record.begin_computing(0);
  record.move(0, 1);  // computing goes before
  moment_ns = 130;
  record.end(0);
  moment_ns = 150;
  run_history const all = record.history();
  ASSERT_EQ(all.processors[0].size(), 2U);
  EXPECT_EQ(all.processors[0][0], (superstep_counts{.computing_ns = 30, .waiting_ns = 10}));
  EXPECT_EQ(all.processors[0][1],
            (superstep_counts{.computing_ns = 50, .moving_ns = 10, .waiting_ns = 30}));
  EXPECT_EQ(all.of_processor(1), (superstep_counts{.waiting_ns = 150}));
  EXPECT_EQ(all.end_ns, (std::vector<std::int64_t>{130, 150}));
  EXPECT_EQ(all.supersteps, 2U);
  EXPECT_EQ(all.ended, 1U);
  EXPECT_EQ(all.spans[0].end_ns, 150);  // the other one is still in it
  EXPECT_EQ(all.spans[1].begin_ns, 40);
  EXPECT_EQ(all.spans[1].end_ns, 130);
}

TEST(run_recorder, counts_parts_to_the_superstep_that_they_end) {
  run_recorder record = recorder_at_zero(1);
  record.add_to_ended(0, {.sent_bytes = 1});
  record.pass(0);
  record.add_to_ended(0, {.sent_bytes = 2});
  record.add(0, {.written_bytes = 4, .stored_read_bytes = 8});
  run_history const all = record.history();
  EXPECT_EQ(all.processors[0][0].sent_bytes, 3U);
  EXPECT_EQ(all.processors[0][1].written_bytes, 4U);
  EXPECT_EQ(record.now().moved_bytes, 12U);
  EXPECT_EQ(all.total().moved_bytes(), 12U);
}

TEST(run_recorder, merges_neighbouring_supersteps_beyond_thousands) {
  constexpr std::uint64_t passes = 20'000;
  run_recorder record = recorder_at_zero(3);
  for (std::uint64_t step = 0; step < passes; ++step) {
    moment_ns += 7;
    record.add(0, {.sent_bytes = step});
    record.pass(0);
    if (step < 10'000) record.pass(1);
  }
  run_history const all = record.history();
  EXPECT_EQ(all.supersteps, passes + 1);
  EXPECT_EQ(all.merged, 8U);
  ASSERT_EQ(all.processors[0].size(), passes / 8 + 1);
  EXPECT_EQ(all.processors[1].size(), 10'000 / 8 + 1U);
  EXPECT_EQ(all.processors[2].size(), 1U);
  for (std::size_t entry = 0; entry < passes / 8; ++entry) {
    EXPECT_EQ(all.processors[0][entry].sent_bytes, 8 * 8 * entry + 28);
    EXPECT_EQ(all.spans[entry].begin_ns, entry == 0 ? 0 : static_cast<std::int64_t>(56 * entry));
  }
  EXPECT_EQ(all.of_processor(0).waiting_ns, moment_ns);
}

// Random steps: each rank's times add up to the time, and its rows of the timeline to its times.
TEST(run_recorder, keeps_all_time_however_long_the_run_is) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::uint32_t const count = seed % 2 == 0 ? 5 : 700;  // three share a row
    run_recorder record = recorder_at_zero(count);
    struct model {
      bool computes = false;
      std::ptrdiff_t moving = 0;
      bool ended = false;
      superstep_counts sum = {};
      std::int64_t end = 0;
    };
    std::vector<model> ranks(count);
    for (int step = 0; step < 3'000; ++step) {
      auto const past = static_cast<std::int64_t>(random() % (1'000'000 << (seed % 4)));
      moment_ns += past;
      for (model& m : ranks) {
        if (m.ended) continue;
        (m.computes     ? m.sum.computing_ns
         : m.moving > 0 ? m.sum.moving_ns
                        : m.sum.waiting_ns) += past;
        m.end = moment_ns;
      }
      auto const rank = static_cast<std::uint32_t>(random() % count);
      model& m = ranks[rank];
      if (m.ended) continue;
      switch (random() % 5) {
        case 0:
          m.computes ? record.end_computing(rank) : record.begin_computing(rank);
          m.computes = !m.computes;
          break;
        case 1:
          record.move(rank, 1);
          ++m.moving;
          break;
        case 2:
          if (m.moving == 0) break;
          record.move(rank, -m.moving);
          m.moving = 0;
          break;
        case 3:
          record.pass(rank);
          break;
        default:
          if (random() % 40 != 0) break;
          record.end(rank);
          m.ended = true;
      }
    }
    run_history const all = record.history();
    std::vector<double> computing(all.timeline.rows), moving(all.timeline.rows);
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      superstep_counts const sum = all.of_processor(rank);
      EXPECT_EQ(sum, ranks[rank].sum);
      EXPECT_EQ(all.end_ns[rank], ranks[rank].end);
      EXPECT_EQ(sum.computing_ns + sum.moving_ns + sum.waiting_ns, all.end_ns[rank]);
      computing[rank / all.timeline.ranks_per_row] += static_cast<double>(sum.computing_ns);
      moving[rank / all.timeline.ranks_per_row] += static_cast<double>(sum.moving_ns);
    }
    std::size_t const bins = all.timeline.bins();
    EXPECT_GE(bins * static_cast<std::uint64_t>(all.timeline.bin_ns),
              static_cast<std::uint64_t>(moment_ns));
    for (std::uint32_t row = 0; row < all.timeline.rows; ++row) {
      auto const sum_of = [&](std::vector<float> const& of) {
        double sum = 0;
        for (std::size_t bin = 0; bin < bins; ++bin) sum += of[row * bins + bin];
        return sum;
      };
      EXPECT_NEAR(sum_of(all.timeline.computing_ns), computing[row], 1e-4 * computing[row] + 100);
      EXPECT_NEAR(sum_of(all.timeline.moving_ns), moving[row], 1e-4 * moving[row] + 100);
    }
  }
}

}  // namespace
}  // namespace outsize::bsp::detail
