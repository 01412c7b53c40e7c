// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The I/Os of a sort, counted beneath the storage, against the bound in algorithm/sorter.hpp; and
// those of sorts that make equal items one, against the bound in algorithm/reduce_by_key.hpp.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <outsize/algorithm/detail/sort/engine.hpp>
#include <outsize/algorithm/reduce_by_key.hpp>
#include <outsize/algorithm/sorter.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/decorators/counting_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize {
namespace {

constexpr std::size_t block_bytes = 4096;
constexpr std::size_t items_per_block = block_bytes / sizeof(std::uint64_t);

/// One tally for each disk; they keep logs.
struct counted_disks {
  std::vector<std::shared_ptr<io::io_tally>> tallies;

  storage_options options(std::size_t threads, std::size_t disk_count) {
    storage_options all{.memory_bytes = 4_MiB, .threads = threads};
    for (std::size_t d = 0; d < disk_count; ++d) {
      auto const tally = tallies.emplace_back(std::make_shared<io::io_tally>());
      tally->keep_log(true);
      all.disks.emplace_back("counted", [tally](io::request_queue&) -> io::file_ptr {
        return std::make_unique<io::counting_file>(io::make_memory_file("counted"), tally);
      });
    }
    return all;
  }

  std::uint64_t reads() const {
    return sum([](auto const& t) { return t.reads().requests; });
  }
  std::uint64_t writes() const {
    return sum([](auto const& t) { return t.writes().requests; });
  }
  std::uint64_t read_bytes() const {
    return sum([](auto const& t) { return t.reads().bytes; });
  }
  std::uint64_t written_bytes() const {
    return sum([](auto const& t) { return t.writes().bytes; });
  }

 private:
  template <typename F>
  std::uint64_t sum(F of) const {
    std::uint64_t total = 0;
    for (auto const& t : tallies) total += of(*t);
    return total;
  }
};

struct sorted_and_counted {
  counted_disks disks;
  sort_plan plan;
  sort_report report;
  std::uint64_t peak_bytes = 0;
  std::uint64_t run_items = 0;  // of every run but the last

  sorted_and_counted(std::size_t count, std::uint64_t memory_bytes, std::size_t threads,
                     std::size_t disk_count = 1) {
    storage store(disks.options(threads, disk_count));
    std::mt19937_64 random(count);
    sorter<std::uint64_t> s(store, {},
                            {.memory_bytes = memory_bytes,
                             .block_bytes = block_bytes,
                             .input_bytes = count * sizeof(std::uint64_t)});
    for (std::size_t i = 0; i < count; ++i) s.push(random());
    std::uint64_t last = 0, items = 0;
    for (s.sort(); !s.empty(); ++s, ++items) {
      EXPECT_LE(last, *s);
      last = *s;
    }
    EXPECT_EQ(items, count);
    report = s.report();
    peak_bytes = store.peak_allocated_bytes();
    EXPECT_EQ(store.allocated_bytes(), 0U);
    plan = plan_of(store, count, memory_bytes);
    run_items = plan.chunk_bytes / sizeof(std::uint64_t);
  }

  /// Items that are not in the last chunks, which stay in memory.
  std::uint64_t spilled(std::uint64_t count) const {
    return std::min(count, plan.runs * run_items);
  }

  static sort_plan plan_of(storage& store, std::size_t count, std::uint64_t memory_bytes) {
    using family = detail::typed_items<std::uint64_t, std::less<>>;
    return plan_sort(
        {.memory_bytes = memory_bytes,
         .input_bytes = count * sizeof(std::uint64_t),
         .item_bytes = sizeof(std::uint64_t),
         .index_entry_bytes = detail::sort_engine<family>::index_entry_bytes(store, family({})),
         .block_bytes = block_bytes,
         .threads = store.threads().threads()});
  }
};

/// Σ 1 + ⌈(Rᵢ - fᵢ)/b⌉ for runs of R items, the last of what is left, with f of them in the first
/// block.
std::uint64_t blocks_of_runs(std::uint64_t count, std::uint64_t run_items) {
  std::uint64_t blocks = 0;
  for (std::uint64_t run = 0; count > 0; ++run) {
    std::uint64_t const items = std::min(count, run_items);
    std::uint64_t const first = detail::staggered_bytes(block_bytes, run) / sizeof(std::uint64_t);
    std::uint64_t const in_first = std::min(items, first);
    blocks += 1 + div_up<std::uint64_t>(items - in_first, items_per_block);
    count -= items;
  }
  return blocks;
}

TEST(sort_io, is_nothing_if_the_items_fit_in_memory) {
  for (std::size_t count : {0, 1, 10'000}) {
    sorted_and_counted const s(count, 256_KiB, 2);
    EXPECT_EQ(s.disks.reads() + s.disks.writes(), 0U);
    EXPECT_EQ(s.report.runs, 0U);
    EXPECT_EQ(s.peak_bytes, 0U);
  }
}

TEST(sort_io, is_one_write_and_one_read_of_each_block_when_one_merge_is_enough) {
  for (std::size_t count : {40'000, 64'512, 65'000, 100'001})
    for (std::size_t threads : {1, 2, 5})
      for (std::size_t disk_count : {1, 3}) {
        sorted_and_counted const s(count, 256_KiB, threads, disk_count);
        SCOPED_TRACE(std::to_string(count) + " items, " + std::to_string(threads) + " threads, " +
                     std::to_string(disk_count) + " disks");
        ASSERT_EQ(s.report.passes, 1U);
        EXPECT_EQ(s.report.runs, div_up<std::uint64_t>(count, s.run_items) - s.plan.kept_chunks);
        EXPECT_GT(s.plan.kept_chunks, 0U);
        EXPECT_EQ(s.disks.writes(), blocks_of_runs(s.spilled(count), s.run_items));
        EXPECT_EQ(s.disks.reads(), s.disks.writes());
        EXPECT_EQ(s.disks.read_bytes(), s.disks.written_bytes());
      }
}

TEST(sort_io, is_spread_evenly_over_the_disks) {
  sorted_and_counted const s(100'000, 256_KiB, 2, 4);
  std::uint64_t const fair = s.disks.writes() / 4;
  for (auto const& tally : s.disks.tallies) {
    EXPECT_LE(tally->writes().requests, fair + s.report.runs);
    EXPECT_GE(tally->writes().requests + s.report.runs, fair);
  }
}

TEST(sort_io, stays_within_the_bound_and_is_the_same_for_any_threads_in_several_passes) {
  for (std::size_t count : {100'000, 150'000}) {
    std::vector<std::uint64_t> writes;
    for (std::size_t threads : {1, 2, 5}) {
      sorted_and_counted const s(count, 144_KiB, threads);
      SCOPED_TRACE(std::to_string(count) + " items, " + std::to_string(threads) + " threads");
      ASSERT_GT(s.report.passes, 1U);
      auto const runs = static_cast<double>(s.report.runs);
      auto const fan_in = static_cast<double>(s.report.fan_in);
      EXPECT_LE(static_cast<double>(s.report.passes), std::ceil(std::log(runs) / std::log(fan_in)));
      std::uint64_t const once = blocks_of_runs(count, s.run_items);
      std::uint64_t const pass = div_up<std::uint64_t>(count, items_per_block) + s.report.runs;
      EXPECT_LE(s.disks.writes(), once + (s.report.passes - 1) * pass);
      EXPECT_GT(s.disks.writes(), once);
      EXPECT_EQ(s.disks.reads(), s.disks.writes());
      EXPECT_EQ(s.disks.read_bytes(), s.disks.written_bytes());
      writes.push_back(s.disks.writes());
    }
    EXPECT_EQ(writes, std::vector<std::uint64_t>(3, writes[0]));
  }
}

TEST(sort_io, reads_nothing_twice) {
  for (std::uint64_t memory : {144_KiB, 256_KiB}) {
    sorted_and_counted const s(100'000, memory, 2, 2);
    for (auto const& tally : s.disks.tallies) {
      // Places are used again: between two reads of one there is a write.
      std::map<std::uint64_t, bool> unread;
      for (auto const& r : tally->log()) {
        bool& fresh = unread[r.offset_bytes];
        if (r.kind == io::operation::read) {
          EXPECT_TRUE(fresh) << "offset " << r.offset_bytes;
        }
        fresh = r.kind == io::operation::write;
      }
      EXPECT_TRUE(std::ranges::none_of(unread, [](auto const& place) { return place.second; }));
    }
  }
}

TEST(sort_io, takes_disk_space_for_the_items_and_a_few_blocks) {
  for (std::size_t count : {40'000, 100'000, 150'000})
    for (std::uint64_t memory : {144_KiB, 256_KiB}) {
      sorted_and_counted const s(count, memory, 2);
      std::uint64_t const spilled = s.spilled(count);
      std::uint64_t const runs_bytes = blocks_of_runs(spilled, s.run_items) * block_bytes;
      EXPECT_GE(s.peak_bytes, spilled * sizeof(std::uint64_t));
      EXPECT_LE(s.peak_bytes, runs_bytes + 16 * block_bytes)
          << count << " items, memory " << memory;
      EXPECT_EQ(s.report.peak_disk_bytes, s.peak_bytes);
    }
}

TEST(sort_io, follows_the_plan) {
  for (std::size_t count : {1'000, 40'000, 100'000, 150'000})
    for (std::uint64_t memory : {144_KiB, 256_KiB}) {
      sorted_and_counted const s(count, memory, 2);
      EXPECT_EQ(s.report.runs, s.plan.runs);
      EXPECT_EQ(s.report.passes, s.plan.passes) << count << " items, memory " << memory;
      EXPECT_LE(s.peak_bytes, s.plan.peak_disk_bytes);
    }
}

struct tally {
  std::uint64_t key, count;
};

/// Whether at most the different items of each chunk were written, in whole blocks.
void expect_early_reduction(counted_disks const& disks, sort_report const& report,
                            std::uint64_t most_items_per_run, std::size_t item_bytes) {
  std::uint64_t const run_bytes = most_items_per_run * item_bytes;
  ASSERT_GT(report.runs, 3U);
  EXPECT_LE(report.run_items, report.runs * most_items_per_run);
  EXPECT_LE(disks.written_bytes(), report.runs * round_up<std::uint64_t>(run_bytes, block_bytes));
  EXPECT_LE(disks.writes(), report.runs * (div_up<std::uint64_t>(run_bytes, block_bytes) + 1));
  EXPECT_EQ(disks.reads(), disks.writes());
}

TEST(sort_io, moves_only_the_different_items_of_each_chunk_if_equal_ones_are_made_one) {
  for (std::uint64_t keys : {1, 16, 1000})
    for (std::size_t threads : {1, 2, 9}) {
      SCOPED_TRACE(std::to_string(keys) + " keys, " + std::to_string(threads) + " threads");
      std::mt19937_64 random(keys);
      std::vector<tally> all(100'000);
      for (tally& t : all) t = {random() % keys, 1};
      sort_options const options{.memory_bytes = 1_MiB, .block_bytes = block_bytes};
      std::vector<tally> out;
      {
        counted_disks disks;
        storage store(disks.options(threads, 1));
        auto const report =
            sort_unique(store, all, std::back_inserter(out), by(&tally::key), options);
        expect_early_reduction(disks, report, keys, sizeof(tally));
      }
      out.clear();
      counted_disks disks;
      storage store(disks.options(threads, 1));
      auto const add = [](tally const& a, tally const& b) {
        return tally{a.key, a.count + b.count};
      };
      auto const report =
          reduce_by_key(store, all, std::back_inserter(out), by(&tally::key), add, options);
      expect_early_reduction(disks, report, keys, sizeof(tally));
      std::uint64_t sum = 0;
      for (tally const& t : out) sum += t.count;
      EXPECT_EQ(out.size(), keys);
      EXPECT_EQ(sum, all.size());
    }
}

}  // namespace
}  // namespace outsize
