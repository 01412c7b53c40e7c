// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// What an operation on a map costs with nothing in memory but the root: a read for each level below
// it, whose number grows with the logarithm of the size, and a constant number of others.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/container/map.hpp>
#include <outsize/io/decorators/counting_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/counted_storage.hpp>
#include <outsize/testing/crashing_file.hpp>
#include <outsize/testing/effort.hpp>

namespace outsize {
namespace {

using numbers = map<std::uint64_t, std::uint64_t>;

constexpr std::size_t leaf_entries = 15, node_children = leaf_entries;
map_options const small{.leaf_bytes = 24 + leaf_entries * 16,
                        .node_bytes = 16 + node_children * 16,
                        .leaf_cache_bytes = 1,
                        .node_cache_bytes = 1,
                        .spare_leaves = 1};

/// Levels below the root of a tree with so many entries in a leaf and children of a node.
std::uint64_t levels_below_root(std::uint64_t entries, std::uint64_t in_page = leaf_entries) {
  std::uint64_t levels = 0;
  for (auto pages = div_up(entries, in_page); pages > 1; ++levels) pages = div_up(pages, in_page);
  return levels;
}

struct map_ios : testing::Test {
  scratch::counted_storage disk{16_MiB};
  std::shared_ptr<io::io_tally> tally = std::make_shared<io::io_tally>();

  /// Keys are the even numbers.
  std::vector<std::byte> file_with(std::uint64_t count, double fill = 1) {
    auto const journal = std::make_shared<scratch::file_journal>();
    std::vector<numbers::value_type> entries;
    for (std::uint64_t i = 0; i < count; ++i) entries.push_back({2 * i, i});
    {
      auto m =
          numbers::create(disk.store, std::make_unique<scratch::crashing_file>(journal), small);
      m.build_sorted(entries, fill);
      m.close();
    }
    std::mt19937_64 random(1);
    auto const file = journal->file_after(journal->size(), random);
    std::vector<std::byte> bytes(file->size_bytes());
    file->read(0, bytes)->wait();
    return bytes;
  }
  /// A map of which nothing is in memory but its root and its first leaf, by which open() sees that
  /// the order is the same.
  numbers opened(std::vector<std::byte> const& bytes, io::access mode = io::access::read_only) {
    auto file = io::make_memory_file("map");
    file->write(0, bytes)->wait();
    return numbers::open(disk.store, std::make_unique<io::counting_file>(std::move(file), tally),
                         mode, small);
  }

  /// The number of some entry that is not in the first leaf.
  static std::uint64_t some_entry(std::uint64_t i, std::uint64_t count) {
    return leaf_entries + i * 7919 % (count - leaf_entries);
  }
  struct cost {
    std::uint64_t reads = 0;  // of pages, by requests of one each
    std::uint64_t pages_written = 0;
  };
  /// What a change costs, with a flush that writes what it has changed.
  template <typename Change>
  cost cost_of(std::vector<std::byte> const& bytes, Change const& change) {
    auto m = opened(bytes, io::access::read_write);
    auto const reads_before = tally->reads().requests;
    change(m);
    cost found{tally->reads().requests - reads_before, 0};
    m.flush();
    found.pages_written = m.leaf_cache_counts().write_backs + m.node_cache_counts().write_backs;
    return found;
  }
};

TEST_F(map_ios, of_a_lookup_with_a_cold_cache_are_one_for_each_level_below_the_root) {
  std::vector<std::uint64_t> costs;
  for (std::uint64_t const count : {10U, 200U, 3'000U, 150'000U}) {
    SCOPED_TRACE(testing::Message() << count << " entries");
    auto const bytes = file_with(count);
    costs.push_back(levels_below_root(count));
    for (std::uint64_t i = 0; i < 20; ++i) {
      // Not the last one of its leaf: to see that nothing follows it, in a file, takes the next.
      std::uint64_t const entry = count > leaf_entries ? some_entry(i, count) : 0;
      std::uint64_t const at = entry / leaf_entries * leaf_entries + i % 5;
      for (bool const is_there : {true, false}) {
        auto const m = opened(bytes);
        auto const before = tally->reads().requests;
        ASSERT_EQ(m.get(2 * at + !is_there).has_value(), is_there);
        ASSERT_EQ(tally->reads().requests - before, costs.back());
      }
    }
  }
  EXPECT_EQ(costs, (std::vector<std::uint64_t>{0, 1, 2, 4}));
}

/// Two levels below the root, and four.
constexpr std::uint64_t sizes[] = {3'000, 150'000};

TEST_F(map_ios, of_a_bound_are_a_lookup_s_and_one_more_where_it_begins_the_next_leaf) {
  for (std::uint64_t const count : sizes) {
    auto const bytes = file_with(count);
    for (std::uint64_t i = 0; i < scratch::operations(45U); ++i) {
      std::uint64_t const at =
          some_entry(i, count - leaf_entries) / leaf_entries * leaf_entries + i % leaf_entries;
      bool const begins_next = (at + 1) % leaf_entries == 0;
      auto const m = opened(bytes);
      auto const before = tally->reads().requests;
      auto const next = i % 2 == 0 ? m.lower_bound(2 * at + 1) : m.upper_bound(2 * at);
      ASSERT_EQ((*next).second, at + 1);
      ASSERT_EQ(tally->reads().requests - before, levels_below_root(count) + begins_next);
    }
  }
}

TEST_F(map_ios, of_an_insertion_are_a_lookup_s_and_a_write_where_there_is_room) {
  std::uint64_t const filled = leaf_entries * 4 / 5;
  for (std::uint64_t const count : sizes) {
    auto const bytes = file_with(count, 0.8);
    for (std::uint64_t i = 0; i < scratch::operations(20U); ++i) {
      std::uint64_t const at = some_entry(i, count);
      bool const begins_next = (at + 1) % filled == 0;
      auto const found = cost_of(bytes, [&](numbers& m) { m.insert({2 * at + 1, 0}); });
      ASSERT_EQ(found.reads, levels_below_root(count, filled) + begins_next);
      ASSERT_EQ(found.pages_written, 1U);
    }
  }
}

TEST_F(map_ios, of_an_insertion_that_splits_all_but_the_root_are_two_writes_for_each_level) {
  for (std::uint64_t const count : sizes) {
    auto const bytes = file_with(count);
    auto const levels = levels_below_root(count);
    for (std::uint64_t i = 0; i < scratch::operations(20U); ++i) {
      std::uint64_t const at = some_entry(i, count);
      auto const found = cost_of(bytes, [&](numbers& m) { m.insert({2 * at + 1, 0}); });
      ASSERT_EQ(found.reads, levels + 1) << "with the leaf behind, for its link";
      ASSERT_EQ(found.pages_written, 2 * levels + 2) << "with that and the root";
    }
  }
}

TEST_F(map_ios, of_an_erasure_are_a_lookup_s_and_a_write_where_enough_is_left) {
  for (std::uint64_t const count : sizes) {
    auto const bytes = file_with(count);
    for (std::uint64_t i = 0; i < scratch::operations(20U); ++i) {
      std::uint64_t const key = 2 * some_entry(i, count);
      auto const found = cost_of(bytes, [&](numbers& m) { ASSERT_EQ(m.erase(key), 1U); });
      ASSERT_EQ(found.reads, levels_below_root(count));
      ASSERT_EQ(found.pages_written, 1U);
    }
  }
}

TEST_F(map_ios, of_erasures_that_merge_are_two_reads_and_writes_for_each_level_at_most) {
  std::uint64_t const filled = leaf_entries * 3 / 10;  // a quarter must be
  for (std::uint64_t const count : sizes) {
    auto const bytes = file_with(count, 0.3);
    auto const levels = levels_below_root(count, filled);
    for (std::uint64_t i = 0; i < scratch::operations(20U); ++i) {
      std::uint64_t const at = i * 7919 % (count - 2);
      auto const found = cost_of(bytes, [&](numbers& m) {
        for (auto k = at; k <= at + 2; ++k) ASSERT_EQ(m.erase(2 * k), 1U);
      });
      ASSERT_GT(found.reads, levels);
      ASSERT_LE(found.reads, 2 * levels + 2);
      ASSERT_GT(found.pages_written, 1U);
      ASSERT_LE(found.pages_written, 2 * levels + 2);
    }
  }
}

TEST_F(map_ios, of_erasing_a_range_are_a_read_of_each_page_in_it_and_few_writes_for_each_level) {
  for (std::uint64_t const count : sizes) {
    auto const bytes = file_with(count);
    auto const levels = levels_below_root(count);
    for (std::uint64_t const range : {100U, 1'000U})
      for (std::uint64_t i = 0; i < scratch::operations(10U); ++i) {
        std::uint64_t const first = i * 7919 % (count - range);
        auto const found = cost_of(bytes, [&](numbers& m) {
          m.erase(m.lower_bound(2 * first), m.lower_bound(2 * (first + range)));
          ASSERT_EQ(m.size(), count - range);
        });
        auto const leaves = range / leaf_entries + 2, nodes = leaves / node_children + 2;
        ASSERT_GE(found.reads, range / leaf_entries);
        ASSERT_LE(found.reads, leaves + nodes + 2 * levels);
        ASSERT_LE(found.pages_written, 2 * levels + 4) << "what is given up is not written";
      }
  }
}

TEST(map_scans, read_many_leaves_at_once_whichever_memory_is_named) {
  constexpr std::uint64_t count = 300'000, leaves = count * 16 / 4096;
  std::vector<numbers::value_type> entries;
  for (std::uint64_t i = 0; i < count; ++i) entries.push_back({i, 2 * i});
  for (map_options const& options :
       {map_options(), map_options{.leaf_cache_bytes = 512_KiB},
        map_options{.leaf_cache_bytes = 512_KiB, .read_ahead_bytes = 256_KiB},
        map_options{.read_ahead_bytes = 256_KiB}}) {
    scratch::counted_storage disk(8_MiB);
    numbers m(disk.store, options);
    m.build_sorted(entries);
    auto const before = disk.reads();
    std::uint64_t sum = 0;
    for (auto const& [key, value] : std::as_const(m)) sum += value - key;
    EXPECT_EQ(sum, count * (count - 1) / 2);
    EXPECT_LT(disk.reads() - before, leaves / 4);
  }
}

}  // namespace
}  // namespace outsize
