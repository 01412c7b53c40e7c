// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// How many of eight simulated disks each allocation strategy keeps busy while runs are written and
// merged. The tables of docs/placement.md are what this prints.
//
// Time is the models': writing and reading are played through event by event, and the computing in
// between takes none.

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/block_id.hpp>
#include <outsize/block/detail/prefetch_schedule.hpp>
#include <outsize/block/placement.hpp>
#include <outsize/io/simulation/rotating_disk.hpp>

namespace outsize::block {
namespace {

using std::chrono::nanoseconds;

constexpr std::uint32_t disk_count = 8;
constexpr std::size_t run_count = 64;
constexpr std::size_t blocks_of_a_run = 32;
constexpr std::uint32_t block_bytes = 2_MiB;
constexpr std::size_t usual_buffers = 4 * disk_count;

/// Disks that are asked for blocks, and what they did.
class parallel_disks {
 public:
  parallel_disks() {
    for (auto& disk : disks_) disk = std::make_unique<io::rotating_disk>();
  }

  /// Returns when it has ended.
  nanoseconds serve(io::operation kind, block_id id, nanoseconds arrival) {
    auto const done = disks_[id.disk]->serve({kind, id.offset_bytes, id.length_bytes, arrival});
    busy_ += done.time.total();
    end_ = std::max(end_, done.end);
    return done.end;
  }

  /// The average over the time that all took together.
  double disks_busy() const {
    return static_cast<double>(busy_.count()) / static_cast<double>(end_.count());
  }

 private:
  std::array<std::unique_ptr<io::disk_model>, disk_count> disks_;
  nanoseconds busy_{0};
  nanoseconds end_{0};
};

/// The blocks of all runs, run after run, each disk filled from its beginning.
std::vector<block_id> place_runs(placement_kind kind) {
  std::vector<std::uint64_t> const alike(disk_count, 1);
  std::vector<std::uint64_t> used(disk_count);
  std::vector<block_id> blocks;
  for (std::size_t r = 0; r < run_count; ++r) {
    auto const where = make_placement({.kind = kind}, alike, 1, r);
    for (std::size_t b = 0; b < blocks_of_a_run; ++b) {
      std::uint32_t const disk = where->next_disk();
      blocks.push_back({used[disk], disk, block_bytes});
      used[disk] += block_bytes;
    }
  }
  return blocks;
}

/// Queued writing: each block as soon as one of the buffers is free.
double disks_busy_writing(std::vector<block_id> const& blocks) {
  parallel_disks disks;
  std::priority_queue<nanoseconds, std::vector<nanoseconds>, std::greater<>> under_way;
  nanoseconds now{0};
  for (block_id const& id : blocks) {
    if (under_way.size() == usual_buffers) {
      now = std::max(now, under_way.top());
      under_way.pop();
    }
    under_way.push(disks.serve(io::operation::write, id, now));
  }
  return disks.disks_busy();
}

/// Reading in the optimal order, each block as soon as a buffer is free. Blocks are used up in the
/// order of need as soon as they are there.
double disks_busy_reading(std::vector<block_id> const& needed, std::size_t buffers) {
  parallel_disks disks;
  std::vector<std::uint32_t> disk_of;
  for (block_id const& id : needed) disk_of.push_back(id.disk);
  std::vector<nanoseconds> end(needed.size(), nanoseconds::max());
  std::size_t issued = 0, used_up = 0;
  nanoseconds now{0};
  for (std::uint32_t const next :
       prefetch_schedule(disk_of, std::vector<std::uint64_t>(disk_count, 1), buffers)) {
    for (; issued - used_up == buffers; ++used_up) now = std::max(now, end[used_up]);
    end[next] = disks.serve(io::operation::read, needed[next], now);
    ++issued;
  }
  return disks.disks_busy();
}

// ---- orders in which merges need the blocks ----

struct block_of_run {
  std::size_t run;
  std::size_t block;
};

/// Of two blocks the one with the smaller trigger is needed first; ties go to the earlier run.
using trigger_of = std::function<std::uint64_t(block_of_run)>;

/// The input was sorted: the runs come one after the other.
std::uint64_t sorted(block_of_run of) { return of.run * blocks_of_a_run + of.block; }

/// The runs have the same distribution of keys: all need their first blocks, then their second
/// ones, in any order.
trigger_of random_keys() {
  return [random = std::make_shared<std::mt19937_64>(5)](block_of_run of) {
    return (std::uint64_t{of.block} << 32) + ((*random)() >> 32);
  };
}

/// Each run begins one block later than the one before: under striping, all the blocks needed at
/// the same time are on one disk.
std::uint64_t staggered(block_of_run of) { return of.run + of.block; }

std::vector<block_id> in_order_of_need(std::vector<block_id> const& blocks,
                                       trigger_of const& trigger) {
  std::vector<std::pair<std::uint64_t, block_id>> order;
  for (std::size_t r = 0; r < run_count; ++r)
    for (std::size_t b = 0; b < blocks_of_a_run; ++b)
      order.emplace_back(trigger({r, b}), blocks[r * blocks_of_a_run + b]);
  std::ranges::stable_sort(order, {}, [](auto const& entry) { return entry.first; });
  std::vector<block_id> needed;
  for (auto const& entry : order) needed.push_back(entry.second);
  return needed;
}

// ---- the tables ----

struct strategy {
  char const* name;
  placement_kind kind;
};
constexpr std::array strategies{strategy{"striping", placement_kind::striping},
                                strategy{"simple randomized", placement_kind::simple_randomized},
                                strategy{"fully randomized", placement_kind::fully_randomized},
                                strategy{"randomized cycling", placement_kind::randomized_cycling},
                                strategy{"single disk", placement_kind::single_disk}};

struct busy_disks {
  double writing, sorted, random, staggered;
};

busy_disks measure(placement_kind kind) {
  auto const blocks = place_runs(kind);
  auto const reading = [&](trigger_of const& trigger) {
    return disks_busy_reading(in_order_of_need(blocks, trigger), usual_buffers);
  };
  return {disks_busy_writing(blocks), reading(sorted), reading(random_keys()), reading(staggered)};
}

void expect_in_page(std::string const& row) {
  static std::string const page = [] {
    std::ifstream file(OUTSIZE_DOCS "/placement.md");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  EXPECT_NE(page.find(row), std::string::npos) << "docs/placement.md lacks\n" << row;
}

TEST(placement_time, of_all_strategies_is_that_of_the_documentation) {
  for (auto const& [name, kind] : strategies) {
    auto const busy = measure(kind);
    expect_in_page(fmt::format("| {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} |\n", name, busy.writing,
                               busy.sorted, busy.random, busy.staggered));
  }
}

TEST(placement_time, under_randomized_cycling_does_not_depend_on_the_keys) {
  auto const cycling = measure(placement_kind::randomized_cycling);
  for (double busy : {cycling.writing, cycling.sorted, cycling.random, cycling.staggered})
    EXPECT_GT(busy, 0.8 * disk_count);
  EXPECT_LT(measure(placement_kind::striping).staggered, 0.5 * disk_count);
  EXPECT_LT(measure(placement_kind::single_disk).sorted, 0.5 * disk_count);
}

TEST(placement_time, approaches_that_of_all_disks_with_more_buffers) {
  auto const needed =
      in_order_of_need(place_runs(placement_kind::randomized_cycling), random_keys());
  double before = 0;
  for (std::size_t buffers : {1U, 2U, 4U, 8U, 16U}) {
    double const busy = disks_busy_reading(needed, buffers * disk_count);
    expect_in_page(fmt::format("| {} | {:.1f} |\n", buffers * disk_count, busy));
    EXPECT_GE(busy, before);
    before = busy;
  }
}

}  // namespace
}  // namespace outsize::block
