// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The bytes of each superstep of a run are those that its program determines; their sums are those
// of the report and of the disks.

#include <outsize/bsp/run_history.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/bsp/virtual_processors.hpp>
#include <outsize/testing/counted_storage.hpp>

namespace outsize::bsp {
namespace {

using namespace literals;

/// Every number differs from 0 and from its value in another round.
void fill(std::span<std::uint64_t> numbers, std::uint64_t rank, std::uint64_t round) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = (rank << 48) + (round << 32) + i + 1;
  }
}

/// In each round a processor changes all of its context, and sends rank + round + 1 items to each.
void exchange_in_rounds(processor& p, std::size_t numbers, std::uint64_t rounds,
                        std::size_t scale) {
  std::span<std::uint64_t> const mine = p.allocate<std::uint64_t>(numbers);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    fill(mine, p.rank(), round);
    parts<std::uint64_t> out;
    std::uint64_t const items = (p.rank() + round + 1) * scale;
    out.items.assign(items * p.count(), 5);
    out.counts.assign(p.count(), items);
    p.all_to_all(std::move(out));
  }
  p.free(mine);
}

TEST(run_history, knows_what_each_processor_sends_and_receives_in_each_superstep) {
  constexpr std::uint32_t count = 9;
  constexpr std::uint64_t rounds = 5, scale = 300;
  for (std::uint32_t const workers : {1U, 3U}) {
    SCOPED_TRACE(workers);
    scratch::counted_storage disks(3_MiB);
    run_report const report =
        run(disks.store, count, [&](processor& p) { exchange_in_rounds(p, 8'192, rounds, scale); },
            {.context_bytes = 448_KiB, .workers = workers});
    run_history const& all = report.history;
    EXPECT_EQ(all.supersteps, rounds + 1);
    EXPECT_EQ(all.merged, 1U);
    EXPECT_EQ(all.ended, count);
    ASSERT_EQ(all.spans.size(), rounds + 1);
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      ASSERT_EQ(all.processors[rank].size(), rounds + 1);
      for (std::uint64_t round = 0; round < rounds; ++round) {
        superstep_counts const& entry = all.processors[rank][round];
        EXPECT_EQ(entry.sent_bytes, 8 * scale * (rank + round + 1) * count);
        // The sum over all senders.
        EXPECT_EQ(entry.received_bytes,
                  8 * scale * (count * (count - 1) / 2 + (round + 1) * count));
      }
      superstep_counts const sum = all.of_processor(rank);
      EXPECT_EQ(all.processors[rank][rounds].sent_bytes, 0U);
      EXPECT_EQ(sum.computing_ns + sum.moving_ns + sum.waiting_ns, all.end_ns[rank]);
      EXPECT_LE(all.end_ns[rank], all.elapsed_ns);
    }
  }
}

// A context of c bytes that all change: c out and c in, less the frames, which may stay.
TEST(run_history, knows_what_moves_in_each_superstep) {
  constexpr std::uint32_t count = 12;
  constexpr std::uint64_t rounds = 4, used = 512_KiB;
  scratch::counted_storage disks(3_MiB);
  run_report const report = run(disks.store, count,
                                [&](processor& p) {
                                  std::span<std::uint64_t> const mine =
                                      p.allocate<std::uint64_t>(used / 8);
                                  for (std::uint64_t round = 0; round < rounds; ++round) {
                                    fill(mine, p.rank(), round);
                                    p.barrier();
                                  }
                                  p.free(mine);
                                },
                                {.context_bytes = 576_KiB, .workers = 1});
  run_history const& all = report.history;
  std::uint64_t const most = count * used;
  std::uint64_t const least = most - report.plan.frame_bytes;
  for (std::size_t superstep = 1; superstep <= rounds; ++superstep) {
    SCOPED_TRACE(superstep);
    superstep_counts const sum = all.of_entry(superstep);
    EXPECT_LE(sum.read_bytes, most);
    EXPECT_GE(sum.read_bytes, least);
  }
  superstep_counts const total = all.total();
  EXPECT_LE(total.written_bytes, rounds * most);
  EXPECT_GE(total.written_bytes, rounds * least);
  EXPECT_EQ(total.changed_bytes, total.written_bytes);
  EXPECT_EQ(total.used_bytes, total.read_bytes);
  EXPECT_EQ(total.formula_bytes(), total.moved_bytes());
}

void expect_sums(run_report const& report, scratch::counted_storage& disks) {
  superstep_counts const total = report.history.total();
  processor_counts const moved = report.total();
  EXPECT_GT(total.written_bytes, 0U);
  EXPECT_EQ(total.written_bytes, moved.swapped_out_bytes);
  EXPECT_EQ(total.read_bytes, moved.swapped_in_bytes);
  EXPECT_EQ(total.sent_bytes, moved.sent_bytes);
  EXPECT_EQ(total.received_bytes, total.sent_bytes);
  EXPECT_EQ(total.stored_written_bytes, report.messages_written_bytes);
  EXPECT_EQ(total.stored_read_bytes, report.messages_read_bytes);
  EXPECT_EQ(total.written_bytes + total.stored_written_bytes, disks.tally->writes().bytes);
  EXPECT_EQ(total.read_bytes + total.stored_read_bytes, disks.tally->reads().bytes);
  EXPECT_LE(total.stored_bytes, total.stored_written_bytes);
  EXPECT_LE(total.stored_bytes + total.lent_bytes, total.sent_bytes);
  superstep_counts by_entry;
  for (std::size_t i = 0; i < report.history.spans.size(); ++i) {
    by_entry += report.history.of_entry(i);
  }
  EXPECT_EQ(by_entry, total);
}

TEST(run_history, adds_up_to_the_report_and_to_the_disks) {
  for (std::uint32_t const workers : {1U, 2U}) {
    SCOPED_TRACE(workers);
    scratch::counted_storage disks(8_MiB);
    run_report const report =
        run(disks.store, 10, [&](processor& p) { exchange_in_rounds(p, 100'000, 4, 500); },
            {.context_bytes = 3_MiB / 2, .workers = workers});
    expect_sums(report, disks);
    EXPECT_GT(report.history.total().stored_bytes, 0U);
  }
}

TEST(run_history, adds_up_where_long_messages_are_read_in_contexts) {
  scratch::counted_storage disks(12_MiB + 512_KiB);
  run_report const report =
      run(disks.store, 8, [&](processor& p) { exchange_in_rounds(p, 180'000, 3, 2'000); },
          {.context_bytes = 3_MiB + 512_KiB, .workers = 1});
  expect_sums(report, disks);
  EXPECT_GT(report.history.total().lent_bytes, 0U);
}

TEST(run_history, ends_supersteps_by_operations_of_all_only) {
  scratch::counted_storage disks(4_MiB);
  run_report const report = run(disks.store, 4, [](processor& p) {
    std::vector<std::uint32_t> const one(100, p.rank());
    p.send(p.rank() ^ 1U, std::span(one));
    p.receive<std::uint32_t>(p.rank() ^ 1U);
    processor half = p.split(p.rank() / 2);  // ends one
    half.all_gather(p.rank());
    p.gather(std::span(one), 2);  // ends one for those too that do not wait
  });
  EXPECT_EQ(report.history.supersteps, 3U);
  std::uint64_t const color_and_key = 16;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    SCOPED_TRACE(rank);
    std::vector<superstep_counts> const& steps = report.history.processors[rank];
    ASSERT_EQ(steps.size(), 3U);
    EXPECT_EQ(steps[0].sent_bytes, 400 + 4 * color_and_key);
    EXPECT_EQ(steps[1].sent_bytes, 2 * 4 + 400U);
    EXPECT_EQ(steps[1].received_bytes, 2 * 4 + (rank == 2 ? 1600U : 0U));
    EXPECT_EQ(steps[2].sent_bytes, 0U);
  }
}

}  // namespace
}  // namespace outsize::bsp
