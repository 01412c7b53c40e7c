// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// What is chosen for a vector at run time: the disks that its pages go to, and which page leaves.

#include <outsize/page/page_options.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/container/deque.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/decorators/counting_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize {
namespace {

constexpr std::uint64_t page_items = 8;
constexpr std::size_t page_bytes = page_items * sizeof(std::uint64_t);

struct page_options_on_two_disks : testing::Test {
  std::array<std::shared_ptr<io::io_tally>, 2> tallies{std::make_shared<io::io_tally>(),
                                                       std::make_shared<io::io_tally>()};
  storage store{{.disks = {counted(0), counted(1)}, .memory_bytes = 1_MiB, .threads = 1}};

  disk_options counted(std::size_t disk) {
    return {disk == 0 ? "first" : "second",
            [tally = tallies[disk]](io::request_queue&) -> io::file_ptr {
              return std::make_unique<io::counting_file>(io::make_memory_file("counted"), tally);
            }};
  }
  static page_options placed(block::placement_options placement) {
    return {.page_bytes = page_bytes,
            .cache_pages = 4,
            .spare_pages = 2,
            .placement = std::move(placement)};
  }
  /// Pages written to each disk by pushing so many, all of which are flushed.
  std::array<std::uint64_t, 2> written_by(page_options const& options, std::uint64_t pages) {
    auto const before = written();
    vector<std::uint64_t> v(store, options);
    for (std::uint64_t i = 0; i < pages * page_items; ++i) v.push_back(i);
    v.flush();
    for (std::uint64_t i = 0; i < v.size(); ++i) EXPECT_EQ(std::as_const(v)[i], i);
    auto const after = written();
    return {after[0] - before[0], after[1] - before[1]};
  }
  std::array<std::uint64_t, 2> written() const {
    return {tallies[0]->writes().bytes / page_bytes, tallies[1]->writes().bytes / page_bytes};
  }
};

using two_counts = std::array<std::uint64_t, 2>;

TEST_F(page_options_on_two_disks, have_pages_go_where_their_placement_says) {
  using enum block::placement_kind;
  EXPECT_EQ(written_by(placed({.kind = striping}), 100), (two_counts{50, 50}));
  EXPECT_EQ(written_by(placed({.kind = striping, .disks = {0}}), 100), (two_counts{100, 0}));
  EXPECT_EQ(written_by(placed({.disks = {1}}), 100), (two_counts{0, 100}));
  auto const one = written_by(placed({.kind = single_disk}), 100);
  auto const next = written_by(placed({.kind = single_disk}), 100);
  EXPECT_EQ(std::max(one[0], one[1]), 100U);
  EXPECT_EQ(one[0], next[1]) << "each on one disk, but not the same";
  EXPECT_EQ(one[1], next[0]);
}

TEST_F(page_options_on_two_disks, are_each_container_s_own) {
  vector<std::uint64_t> v(store, placed({.disks = {0}}));
  deque<std::uint64_t> d(store, placed({.disks = {1}}));
  for (std::uint64_t i = 0; i < 100 * page_items; ++i) {
    v.push_back(i);
    i % 2 == 0 ? d.push_back(i) : d.push_front(i);
  }
  v.flush();
  EXPECT_EQ(written()[0], 100U);
  EXPECT_GE(written()[1], 90U);
  EXPECT_LE(written()[1], 101U);
  auto const reads = tallies[1]->reads().requests;
  for (std::uint64_t i = 0; i < v.size(); ++i) ASSERT_EQ(std::as_const(v)[i], i);
  EXPECT_EQ(tallies[1]->reads().requests, reads);
  EXPECT_GE(tallies[0]->reads().requests, 90U);
}

TEST_F(page_options_on_two_disks, refuse_disks_that_are_not_there) {
  EXPECT_THROW(vector<std::uint64_t>(store, placed({.disks = {0, 2}})), std::invalid_argument);
  EXPECT_THROW(vector<std::uint64_t>(store, placed({.disks = {1, 1}})), std::invalid_argument);
}

/// What a policy was asked for.
struct policy_log {
  std::size_t slots = 0;
  std::uint64_t entered = 0, left = 0, chosen = 0;
};

/// Gives up what was used last, which suits who goes round and round.
class most_recently_used final : public block::replacement {
 public:
  explicit most_recently_used(policy_log& log) : log_(log) {}
  void start(std::size_t slot_count) override {
    log_.slots = slot_count;
    by_use_.reserve(slot_count);
  }
  void enter(std::size_t slot, block::block_id) noexcept override {
    ++log_.entered;
    by_use_.push_back(slot);
  }
  void leave(std::size_t slot) noexcept override {
    ++log_.left;
    by_use_.erase(std::ranges::find(by_use_, slot));
  }
  std::size_t choose() noexcept override {
    ++log_.chosen;
    return by_use_.back();
  }

 private:
  policy_log& log_;
  std::vector<std::size_t> by_use_;
};

/// Reads of going round 20 pages 50 times with 12 of them in memory.
std::uint64_t reads_of_rounds(storage& store, page_options options) {
  options.page_bytes = page_bytes;
  options.cache_pages = 12;
  options.read_ahead_pages = 0;
  vector<std::uint64_t> v(store, options);
  for (std::uint64_t i = 0; i < 20 * page_items; ++i) v.push_back(i);
  v.flush();
  auto const before = v.cache_counts().misses;
  for (int round = 0; round < 50; ++round)
    for (std::uint64_t i = 0; i < 20 * page_items; i += page_items)
      EXPECT_EQ(std::as_const(v)[i], i);
  EXPECT_EQ(v.cache_counts().prefetches, 0U);
  return v.cache_counts().misses - before;
}

TEST_F(page_options_on_two_disks, let_the_policy_given_choose_which_page_leaves) {
  policy_log log;
  EXPECT_GE(reads_of_rounds(store, {}), 50U * (20 - 4));  // the live ones do not leave
  auto const reads = reads_of_rounds(
      store, {.replacement = [&] { return std::make_unique<most_recently_used>(log); }});
  EXPECT_LE(reads, 50U * (20 - 9));
  EXPECT_GE(reads, 50U * (20 - 12));
  EXPECT_GE(log.slots, 12U);
  EXPECT_GE(log.chosen, reads);
  EXPECT_GE(log.entered, log.left);
  EXPECT_GE(log.left, reads);
}

}  // namespace
}  // namespace outsize
