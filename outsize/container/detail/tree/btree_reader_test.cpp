// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Readers of maps and sets show what iterators do, in both directions, wherever the leaves lie, and
// read each leaf once.

#include <outsize/container/detail/tree/btree_reader.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <random>
#include <ranges>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/container/set.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/counted_storage.hpp>

namespace outsize {
namespace {

using numbers = multiset<std::uint64_t>;

static_assert(std::ranges::input_range<decltype(std::declval<numbers>().forward())>);
static_assert(std::ranges::input_range<decltype(std::declval<numbers>().backward())>);

// Leaves of 13 numbers, nodes of 5 children; 6 runs of four leaves.
map_options const tiny{.leaf_bytes = 128,
                       .node_bytes = 100,
                       .leaf_cache_bytes = 1,
                       .node_cache_bytes = 1,
                       .spare_leaves = 2,
                       .batch_leaves = 4,
                       .read_ahead_bytes = 8 * 4 * 128};

/// The numbers below `count`.
std::vector<std::uint64_t> up_to(std::uint64_t count) {
  std::vector<std::uint64_t> all(count);
  for (std::uint64_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

template <typename Stream>
std::vector<std::uint64_t> all_of(Stream in) {
  std::vector<std::uint64_t> all;
  for (auto const number : in) all.push_back(number);
  return all;
}

/// Leaves side by side in order (built), anywhere (inserted), or the one and then the other.
enum class made { built, inserted, both };

void fill(numbers& made_so, made how, std::vector<std::uint64_t> const& sorted,
          std::uint64_t seed) {
  std::vector<std::uint64_t> first, later;
  std::mt19937_64 random(seed);
  for (auto const number : sorted)
    (how == made::built || (how == made::both && random() % 5 != 0) ? first : later)
        .push_back(number);
  made_so.build_sorted(first);
  std::ranges::shuffle(later, random);
  for (auto const number : later) made_so.insert(number);
}

numbers make(storage& store, made how, std::vector<std::uint64_t> const& sorted,
             std::uint64_t seed) {
  numbers made_so(store, tiny);
  fill(made_so, how, sorted, seed);
  return made_so;
}

class streams : public testing::TestWithParam<made> {
 protected:
  scratch::counted_storage disk;
};

TEST_P(streams, show_all_in_both_directions) {
  for (std::uint64_t const count : {0U, 1U, 13U, 14U, 100U, 3000U}) {
    auto const all = up_to(count);
    numbers const in = make(disk.store, GetParam(), all, count);
    EXPECT_EQ(all_of(in.forward()), all);
    EXPECT_TRUE(std::ranges::equal(all_of(in.backward()), std::views::reverse(all)));
  }
}

TEST_P(streams, show_parts) {
  std::vector<std::uint64_t> all;
  for (auto const i : up_to(2000)) all.push_back(i / 3);  // with equal ones
  numbers const in = make(disk.store, GetParam(), all, 1);
  std::mt19937_64 random(2);
  for (int i = 0; i < 300; ++i) {
    std::uint64_t const from = random() % 700;
    std::uint64_t const to =
        std::min<std::uint64_t>(from + random() % (i % 2 == 0 ? 20 : 700), 700);
    std::vector<std::uint64_t> expected(std::ranges::lower_bound(all, from),
                                        std::ranges::lower_bound(all, to));
    EXPECT_EQ(all_of(in.forward(in.lower_bound(from), in.lower_bound(to))), expected);
    std::ranges::reverse(expected);
    EXPECT_EQ(all_of(in.backward(in.lower_bound(from), in.lower_bound(to))), expected);
  }
}

TEST_P(streams, are_gone_through_in_pieces_of_any_length) {
  auto const all = up_to(1000);
  numbers const in = make(disk.store, GetParam(), all, 3);
  std::mt19937_64 random(4);
  std::uint64_t next = 0;
  for (auto some = in.forward(); !some.empty();) {
    auto const shown = some.pull();
    std::size_t const count = random() % (shown.size() + 1);
    for (auto const number : shown.first(count)) ASSERT_EQ(number, next++);
    some.skip(count);
    if (!some.empty()) {
      ASSERT_EQ(*some, next);
    }
  }
  EXPECT_EQ(next, all.size());
  for (auto some = in.backward(); !some.empty();) {
    ASSERT_EQ(*some, --next);
    std::size_t const count = 1 + random() % some.pull().size();
    ASSERT_EQ(some.pull()[some.pull().size() - count], next - (count - 1));
    next -= count - 1;
    some.skip(count);
  }
  EXPECT_EQ(next, 0U);
}

TEST_P(streams, read_each_leaf_once) {
  auto const all = up_to(13 * 400);
  numbers in = make(disk.store, GetParam(), all, 5);
  in.flush();
  std::vector<std::uint64_t> seen;
  for (bool const backward : {false, true}) {
    auto const nodes = in.node_cache_counts();
    std::uint64_t const before = disk.tally->reads().bytes;
    seen = backward ? all_of(in.backward()) : all_of(in.forward());
    EXPECT_EQ(seen.size(), all.size());
    auto const after = in.node_cache_counts();
    std::uint64_t const node_bytes = (after.misses - nodes.misses) * 104;
    std::uint64_t const leaf_bytes = disk.tally->reads().bytes - before - node_bytes;
    EXPECT_LE(leaf_bytes, GetParam() == made::built ? 400U * 128 : 800U * 128);
  }
}

TEST_P(streams, may_be_many_at_once) {
  auto const all = up_to(5000);
  numbers const in = make(disk.store, GetParam(), all, 6);
  std::vector<std::jthread> readers;
  std::atomic<int> right = 0;
  for (int i = 0; i < 4; ++i)
    readers.emplace_back([&, i] {
      for (int again = 0; again < 5; ++again) {
        auto const seen = i % 2 == 0 ? all_of(in.forward()) : all_of(in.backward());
        right += i % 2 == 0 ? std::ranges::equal(seen, all)
                            : std::ranges::equal(seen, std::views::reverse(all));
        right += std::ranges::equal(std::as_const(in), all);
      }
    });
  readers.clear();
  EXPECT_EQ(right, 40);
}

std::string name_of(testing::TestParamInfo<made> const& info) {
  return info.param == made::built ? "built" : info.param == made::inserted ? "inserted" : "both";
}

INSTANTIATE_TEST_SUITE_P(all, streams, testing::Values(made::built, made::inserted, made::both),
                         name_of);

TEST(readers_of_changed_maps, show_what_was_changed) {
  scratch::counted_storage disk;
  std::mt19937_64 random(7);
  std::multiset<std::uint64_t> model;
  numbers in(disk.store, tiny);
  for (int i = 0; i < 60; ++i) {
    for (int j = 0; j < 50; ++j) {
      std::uint64_t const number = random() % 300;
      if (random() % 3 > 0) {
        in.insert(number);
        model.insert(number);
      } else {
        EXPECT_EQ(in.erase(number), model.erase(number));
      }
    }
    EXPECT_TRUE(std::ranges::equal(all_of(in.forward()), model));
    auto const from = in.lower_bound(random() % 300);
    auto part = std::as_const(in).backward(from, in.end());  // not to its end
    if (!part.empty()) {
      EXPECT_EQ(*part, *model.rbegin());
    }
  }
}

/// Goes over all numbers while reads fail now and then; how many calls have failed.
int failures_of_a_stream(numbers const& in, std::uint64_t count, io::fault_plan& plan) {
  std::mt19937_64 random(9);
  std::uint64_t next = 0;
  int failures = 0;
  for (auto some = in.forward(); !some.empty();) {
    if (random() % 3 == 0)
      plan.script(io::fault_point::read, plan.calls(io::fault_point::read), io::fault::fail(EIO),
                  3);
    try {
      auto const shown = some.pull();
      for (std::size_t i = 0; i < shown.size(); ++i) EXPECT_EQ(shown[i], next + i);
      next += shown.size();
      some.skip(shown.size());
    } catch (io_error const&) {
      ++failures;
    }
  }
  EXPECT_EQ(next, count);
  return failures;
}

/// A disk, and files, whose reads can be made to fail.
struct failing_disk {
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>();
  storage store{{.disks = {disk_options("faulty", [this](io::request_queue&) { return file(); })},
                 .memory_bytes = 1_MiB,
                 .threads = 1}};

  io::file_ptr file() {
    return std::make_unique<io::faulty_file>(io::make_memory_file("faulty", 1_MiB), plan);
  }
};

TEST(items_of_failing_disks, go_on_where_they_were) {
  auto const all = up_to(3000);
  for (auto const how : {made::built, made::inserted, made::both}) {
    failing_disk disk;
    numbers const in = make(disk.store, how, all, 8);
    EXPECT_GT(failures_of_a_stream(in, all.size(), *disk.plan), 10);
  }
}

TEST(items_of_failing_disks, go_on_in_files_whose_leaves_are_checked) {
  auto const all = up_to(3000);
  for (auto const how : {made::built, made::inserted, made::both}) {
    failing_disk disk;
    auto in = numbers::create(disk.store, disk.file(), tiny);
    fill(in, how, all, 8);
    in.flush();
    EXPECT_GT(failures_of_a_stream(in, all.size(), *disk.plan), 10);
  }
}

}  // namespace
}  // namespace outsize
