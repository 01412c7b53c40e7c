// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Chunks become sorted runs in the order of the input, or stay in memory if that is enough for
// them.

#include <outsize/algorithm/detail/sort/run_formation.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <stop_token>
#include <vector>

#include <outsize/algorithm/detail/sort/family/typed_chunk.hpp>
#include <outsize/algorithm/detail/sort/family/typed_items.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::detail {
namespace {

using numbers = typed_items<std::uint64_t, std::less<>>;

/// With two threads chunks are written from where they were sorted, with eight their parts are
/// merged.
struct run_formation_in_memory : testing::TestWithParam<std::size_t> {
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>();
  storage store{{.disks = {disk_options(
                     "memory",
                     [this](io::request_queue&) -> io::file_ptr {
                       return std::make_unique<io::faulty_file>(
                           io::make_memory_file("memory", 64_MiB, {.own_thread = true}), plan);
                     })},
                 .memory_bytes = 1_MiB,
                 .threads = GetParam()}};
  grant memory = store.memory().take(256_KiB, "test");
  numbers family{{}};
  sort_plan division = plan_sort({.memory_bytes = 256_KiB, .item_bytes = 8, .block_bytes = 1024});
  std::size_t chunk_items = division.chunk_bytes / 8;
  std::vector<std::uint64_t> in;

  void feed(run_formation<numbers>& formation, std::size_t count) {
    std::mt19937_64 random(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (formation.current().room().empty()) formation.hand_over();
      in.push_back(random());
      formation.current().room()[0] = in.back();
      formation.current().grow(1);
    }
    formation.finish();
  }

  std::vector<std::uint64_t> items_of(run<numbers> const& r) {
    std::vector<std::uint64_t> all;
    for (auto const& e : r.entries()) {
      if (r.form().is_encoded()) {
        std::vector<std::byte> block(e.id.length_bytes);
        store.read(e.id, block)->wait();
        std::size_t const before = all.size();
        all.resize(before + e.items);
        EXPECT_TRUE(decode_keys(std::span<std::byte const>(block), std::span(all).subspan(before)));
        continue;
      }
      std::vector<std::uint64_t> block(e.id.length_bytes / 8);
      store.read(e.id, std::as_writable_bytes(std::span(block)))->wait();
      all.insert(all.end(), block.begin(), block.begin() + e.items);
    }
    return all;
  }

  sort_plan plan_for(std::size_t count) const {
    return plan_sort({.memory_bytes = 256_KiB,
                      .input_bytes = count * 8,
                      .item_bytes = 8,
                      .block_bytes = 1024,
                      .threads = GetParam()});
  }

  static sort_plan encoded_division() {
    return plan_sort({.memory_bytes = 256_KiB,
                      .item_bytes = 8,
                      .block_bytes = 1024,
                      .codec = run_codec::always,
                      .key_codec = true,
                      .threads = GetParam()});
  }

  static std::vector<std::uint64_t> residents_of(run_formation<numbers> const& formation) {
    std::vector<std::uint64_t> all;
    for (auto const& v : formation.resident_views())
      for (std::size_t i = 0; i < v.size(); ++i) all.push_back(v.key(i));
    std::ranges::sort(all);
    return all;
  }

  static std::uint64_t spilled_bytes_of(run_formation<numbers>& formation) {
    std::uint64_t sum = 0;
    for (auto const& r : formation.runs()) sum += r.bytes();
    return sum;
  }

  static std::size_t longest_block_of(run<numbers> const& r) {
    std::size_t longest = 0;
    for (auto const& e : r.entries()) longest = std::max<std::size_t>(longest, e.id.length_bytes);
    return longest;
  }

  /// One run for each of the first chunks; the others are resident.
  void expect_chunks_in_order(run_formation<numbers>& formation) {
    std::size_t begin = 0;
    for (auto const& r : formation.runs()) {
      std::size_t const end = std::min(begin + chunk_items, in.size());
      std::vector<std::uint64_t> want(in.begin() + static_cast<std::ptrdiff_t>(begin),
                                      in.begin() + static_cast<std::ptrdiff_t>(end));
      std::ranges::sort(want);
      EXPECT_EQ(items_of(r), want);
      begin = end;
    }
    EXPECT_EQ(spilled_bytes_of(formation), begin * 8);
    std::vector<std::uint64_t> rest(in.begin() + static_cast<std::ptrdiff_t>(begin), in.end());
    std::ranges::sort(rest);
    EXPECT_EQ(residents_of(formation), rest);
  }

  void TearDown() override {
    EXPECT_EQ(store.allocated_bytes(), 0U);
    EXPECT_EQ(memory.free_bytes(), memory.total_bytes());
  }
};

TEST_P(run_formation_in_memory, keeps_in_memory_what_fits_in_its_chunks) {
  for (std::size_t count :
       {std::size_t{0}, std::size_t{1}, chunk_items, chunk_items * division.chunks}) {
    in.clear();
    run_formation<numbers> formation(family, store, memory, division);
    feed(formation, count);
    EXPECT_TRUE(formation.runs().empty());
    expect_chunks_in_order(formation);
    EXPECT_EQ(plan->calls(io::fault_point::write), 0U);
  }
}

TEST_P(run_formation_in_memory, spills_all_chunks_but_the_last_once_one_is_spilled) {
  for (std::size_t count : {chunk_items * division.chunks + 1, chunk_items * (division.chunks + 1),
                            chunk_items * 3 * division.chunks + 5}) {
    in.clear();
    run_formation<numbers> formation(family, store, memory, division);
    feed(formation, count);
    EXPECT_EQ(formation.runs().size(), div_up(count, chunk_items) - 1);
    expect_chunks_in_order(formation);
  }
}

TEST_P(run_formation_in_memory, spills_as_many_chunks_as_were_planned) {
  for (std::size_t count : {chunk_items * 9 + 1, chunk_items * 14}) {
    in.clear();
    auto const known = plan_for(count);
    ASSERT_GT(known.kept_chunks, 0U);
    chunk_items = known.chunk_bytes / 8;
    run_formation<numbers> formation(family, store, memory, known);
    feed(formation, count);
    EXPECT_EQ(formation.runs().size(), known.runs);
    expect_chunks_in_order(formation);
  }
}

TEST_P(run_formation_in_memory, takes_more_or_fewer_items_than_were_announced) {
  auto const known = plan_for(chunk_items * 10);
  chunk_items = known.chunk_bytes / 8;
  for (std::size_t count : {std::size_t{5}, chunk_items * 7, chunk_items * 13, chunk_items * 25}) {
    in.clear();
    run_formation<numbers> formation(family, store, memory, known);
    feed(formation, count);
    EXPECT_LE(formation.runs().size(), div_up(count, chunk_items));
    expect_chunks_in_order(formation);
  }
}

TEST_P(run_formation_in_memory, doubles_its_blocks_when_the_index_fills_its_share) {
  division.index_bytes = 40 * sizeof(run<numbers>::entry) * 2;
  ASSERT_GE(division.write_buffers, 8U);
  run_formation<numbers> formation(family, store, memory, division);
  feed(formation, chunk_items * 12);
  EXPECT_EQ(longest_block_of(formation.runs().front()), 1024U);
  EXPECT_GT(longest_block_of(formation.runs().back()), 1024U);
  expect_chunks_in_order(formation);
}

TEST_P(run_formation_in_memory, encodes_runs_where_it_is_told_to) {
  division = encoded_division();
  chunk_items = division.chunk_bytes / 8;
  run_formation<numbers> formation(family, store, memory, division);
  feed(formation, chunk_items * 12);
  std::uint64_t disk_bytes = 0;
  for (auto const& r : formation.runs()) {
    EXPECT_TRUE(r.form().is_encoded());
    EXPECT_EQ(r.buffer_bytes(), division.held_bytes);
    disk_bytes += r.disk_bytes();
  }
  EXPECT_LT(disk_bytes, spilled_bytes_of(formation) * 95 / 100);
  expect_chunks_in_order(formation);
}

TEST_P(run_formation_in_memory, encodes_runs_in_blocks_that_grow_with_the_index) {
  division = encoded_division();
  division.index_bytes = 40 * sizeof(run<numbers>::entry) * 2;
  chunk_items = division.chunk_bytes / 8;
  run_formation<numbers> formation(family, store, memory, division);
  feed(formation, chunk_items * 12);
  EXPECT_EQ(longest_block_of(formation.runs().front()), 1024U);
  EXPECT_GT(longest_block_of(formation.runs().back()), 1024U);
  expect_chunks_in_order(formation);
}

TEST_P(run_formation_in_memory, begins_its_runs_with_blocks_of_different_lengths) {
  run_formation<numbers> formation(family, store, memory, division);
  feed(formation, chunk_items * 12);
  std::set<std::uint32_t> lengths;
  for (auto const& r : formation.runs()) lengths.insert(r.entries().front().items);
  EXPECT_GT(lengths.size(), 4U);
}

TEST_P(run_formation_in_memory, throws_what_went_wrong_while_it_encoded) {
  for (std::uint64_t call : {0, 3, 40}) {
    division = encoded_division();
    plan->script(io::fault_point::write, plan->calls(io::fault_point::write) + call,
                 io::fault::fail(EIO));
    run_formation<numbers> formation(family, store, memory, division);
    EXPECT_THROW(feed(formation, chunk_items * 20), io_error);
  }
}

TEST_P(run_formation_in_memory, throws_what_went_wrong_in_its_stages) {
  plan->script(io::fault_point::write, 3, io::fault::fail(EIO));
  run_formation<numbers> formation(family, store, memory, division);
  EXPECT_THROW(feed(formation, chunk_items * 20), io_error);
}

TEST_P(run_formation_in_memory, gives_up_when_told_to) {
  std::stop_source stop;
  run_formation<numbers> formation(family, store, memory, division, equal_items::kept,
                                   stop.get_token());
  stop.request_stop();
  EXPECT_THROW(feed(formation, chunk_items * 20), cancelled);
}

INSTANTIATE_TEST_SUITE_P(threads, run_formation_in_memory, testing::Values(1, 2, 8),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace outsize::detail
