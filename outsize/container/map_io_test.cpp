// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// What a lookup in a map costs with nothing in memory but the root: a read for each level below it,
// whose number grows with the logarithm of the size.

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

namespace outsize {
namespace {

using numbers = map<std::uint64_t, std::uint64_t>;

constexpr std::size_t leaf_entries = 15, node_children = 15;
map_options const small{.leaf_bytes = 24 + leaf_entries * 16,
                        .node_bytes = 16 + node_children * 16,
                        .leaf_cache_bytes = 1,
                        .node_cache_bytes = 1,
                        .spare_leaves = 1};

/// Levels below the root of a tree that is filled as far as it can be.
std::uint64_t levels_below_root(std::uint64_t entries) {
  std::uint64_t levels = 0;
  for (auto pages = div_up<std::uint64_t>(entries, leaf_entries); pages > 1; ++levels)
    pages = div_up<std::uint64_t>(pages, node_children);
  return levels;
}

struct map_ios : testing::Test {
  scratch::counted_storage disk{16_MiB};
  std::shared_ptr<io::io_tally> tally = std::make_shared<io::io_tally>();

  std::vector<std::byte> file_with(std::uint64_t count) {
    auto const journal = std::make_shared<scratch::file_journal>();
    std::vector<numbers::value_type> entries;
    for (std::uint64_t i = 0; i < count; ++i) entries.push_back({2 * i, i});
    {
      auto m =
          numbers::create(disk.store, std::make_unique<scratch::crashing_file>(journal), small);
      m.build_sorted(entries);
      m.close();
    }
    std::mt19937_64 random(1);
    auto const file = journal->file_after(journal->size(), random);
    std::vector<std::byte> bytes(file->size_bytes());
    file->read(0, bytes)->wait();
    return bytes;
  }
  /// A map of which nothing is in memory but its root.
  numbers opened(std::vector<std::byte> const& bytes) {
    auto file = io::make_memory_file("map");
    file->write(0, bytes)->wait();
    return numbers::open(disk.store, std::make_unique<io::counting_file>(std::move(file), tally),
                         io::access::read_only, small);
  }
};

TEST_F(map_ios, of_a_lookup_with_a_cold_cache_are_one_for_each_level_below_the_root) {
  std::vector<std::uint64_t> costs;
  for (std::uint64_t const count : {10U, 200U, 3'000U, 150'000U}) {
    SCOPED_TRACE(testing::Message() << count << " entries");
    auto const bytes = file_with(count);
    costs.push_back(std::max<std::uint64_t>(levels_below_root(count), 1));  // a leaf at least
    for (std::uint64_t i = 0; i < 20; ++i) {
      // Not the last one of its leaf: to see that nothing follows it, in a file, takes the next.
      std::uint64_t const at = i * 7919 % count / leaf_entries * leaf_entries + i % 5;
      for (bool const is_there : {true, false}) {
        auto const m = opened(bytes);
        auto const before = tally->reads().requests;
        ASSERT_EQ(m.get(2 * at + !is_there).has_value(), is_there);
        ASSERT_EQ(tally->reads().requests - before, costs.back());
      }
    }
  }
  EXPECT_EQ(costs, (std::vector<std::uint64_t>{1, 1, 2, 4}));
}

}  // namespace
}  // namespace outsize
