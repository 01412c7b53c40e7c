// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Maps whose comparison throws, at each call of it in turn: what changes one entry leaves all as it
// was, and so does construction; what changes many has done some of it.

#include <outsize/block/storage.hpp>
#include <outsize/container/map.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <ranges>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize {
namespace {

struct no_order : std::runtime_error {
  no_order() : std::runtime_error("no order") {}
};

/// Throws when it has been called so many times; never if that is below zero.
struct fragile_less {
  std::atomic<long>* calls_left;  // threads sort at once
  bool operator()(int a, int b) const {
    if (*calls_left >= 0 && calls_left->fetch_sub(1) == 0) throw no_order();
    return a < b;
  }
};

using fragile_map = map<int, int, fragile_less>;
using fragile_multimap = multimap<int, int, fragile_less>;
using item = fragile_map::value_type;

struct fragile_maps : testing::Test {
  // Leaves and nodes of a few entries, so that everything is split and merged all the time.
  map_options const tiny{.leaf_bytes = 72,
                         .node_bytes = 80,
                         .leaf_cache_bytes = 1,
                         .node_cache_bytes = 1,
                         .spare_leaves = 2,
                         .batch_leaves = 3,
                         .read_ahead_bytes = 8 * 4 * 72};
  static constexpr long never = -1;
  storage store{
      {.disks = {disk_options(
           "memory", [](io::request_queue&) { return io::make_memory_file("memory", 64_MiB); })},
       .memory_bytes = 16_MiB,
       .threads = 2}};
  std::atomic<long> calls_left = never;
  std::mt19937_64 random{1};

  template <typename Map>
  Map empty_one() {
    return Map(store, tiny, fragile_less{&calls_left});
  }
  /// Whether the operation threw, the comparison being good for so many calls.
  template <typename Operation>
  bool throws(long calls, Operation const& operation) {
    calls_left = calls;
    bool thrown = false;
    try {
      operation();
    } catch (no_order const&) {
      thrown = true;
    }
    calls_left = never;
    return thrown;
  }
  std::vector<int> shuffled(int count) {
    std::vector<int> keys(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) keys[static_cast<std::size_t>(i)] = i;
    std::ranges::shuffle(keys, random);
    return keys;
  }
  template <typename Map, typename Model>
  static void expect_same(Map const& m, Model const& model) {
    auto const same = [](auto const& a, auto const& b) {
      return a.first == b.first && a.second == b.second;
    };
    ASSERT_EQ(m.size(), model.size());
    ASSERT_TRUE(std::ranges::equal(m, model, same));
    ASSERT_TRUE(std::equal(m.rbegin(), m.rend(), model.rbegin(), model.rend(), same));
  }
};

template <typename Map, typename Model>
void change_one_by_one(fragile_maps& with, int count) {
  bool some_threw = true;
  for (long calls = 0; some_threw; ++calls) {
    SCOPED_TRACE(testing::Message() << "after " << calls << " comparisons");
    some_threw = false;
    auto m = with.empty_one<Map>();
    Model model;
    for (int const key : with.shuffled(count)) {
      int const kept = key / 2;  // twice
      if (with.throws(calls, [&] { m.insert({kept, key}); })) {
        some_threw = true;
        fragile_maps::expect_same(std::as_const(m), model);
        m.insert({kept, key});
      }
      model.insert({kept, key});
    }
    fragile_maps::expect_same(std::as_const(m), model);
    for (int const key : with.shuffled(count / 2)) {
      if (with.throws(calls, [&] { m.erase(key); })) {
        some_threw = true;
        fragile_maps::expect_same(std::as_const(m), model);
        m.erase(key);
      }
      model.erase(key);
      ASSERT_EQ(m.size(), model.size());
    }
    EXPECT_TRUE(m.empty());
    ASSERT_LT(calls, 1000);
  }
}

TEST_F(fragile_maps, are_as_they_were_whichever_comparison_throws) {
  change_one_by_one<fragile_map, std::map<int, int>>(*this, 120);
  change_one_by_one<fragile_multimap, std::multimap<int, int>>(*this, 120);
}

TEST_F(fragile_maps, are_looked_at_again_after_a_search_that_threw) {
  auto m = empty_one<fragile_map>();
  for (int const key : shuffled(100)) m.insert({2 * key, key});
  auto const& fixed = m;
  std::vector<int> keys;
  for (int i = 0; i < 50; ++i) keys.push_back(i * 4 + 1);
  int thrown = 0;
  for (long calls = 0; calls < 400; ++calls) {
    int found = 0;
    thrown += throws(calls, [&] { fixed.find(33); });
    thrown += throws(calls, [&] { fixed.lower_bound(33); });
    thrown += throws(calls, [&] { fixed.equal_range(34); });
    thrown += throws(calls, [&] {
      fixed.find_many(std::span<int const>(keys), [&](std::size_t, item const&) { ++found; });
    });
    thrown += throws(calls, [&] { m.insert(fixed.upper_bound(33), {34, 0}); });
  }
  EXPECT_GT(thrown, 100);
  EXPECT_EQ(m.size(), 100U);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(fixed.get(2 * i), i);
}

TEST_F(fragile_maps, have_some_of_a_batch_that_threw_and_take_it_again) {
  bool some_threw = true;
  for (long calls = 0; some_threw; calls += 7) {
    auto m = empty_one<fragile_map>();
    std::map<int, int> model;
    std::vector<item> entries;
    std::vector<int> keys;
    for (int const key : shuffled(100)) {
      entries.push_back({key, -key});
      if (key % 3 != 0) keys.push_back(key);
    }
    for (auto const& each : entries) model.insert({each.first, each.second});
    some_threw = throws(calls, [&] { m.insert_many(entries); });
    for (auto const& [key, value] : std::as_const(m)) ASSERT_EQ(model.at(key), value);
    if (some_threw) m.insert_many(entries);
    expect_same(std::as_const(m), model);
    bool const erasing_threw = throws(calls, [&] { m.erase_many(keys); });
    some_threw |= erasing_threw;
    for (int key = 0; key < 100; key += 3) ASSERT_EQ(std::as_const(m).get(key), -key);
    if (erasing_threw) m.erase_many(keys);
    for (int const key : keys) model.erase(key);
    expect_same(std::as_const(m), model);
  }
}

TEST_F(fragile_maps, are_as_they_were_if_their_construction_threw) {
  std::vector<item> sorted;
  for (int i = 0; i < 300; ++i) sorted.push_back({i, i});
  auto unsorted = sorted;
  std::ranges::shuffle(unsorted, random);
  for (bool const sorts : {false, true}) {
    auto m = empty_one<fragile_map>();
    m.insert({7, 8});
    auto const kept = m.find(7);
    auto const build = [&] { sorts ? m.build(unsorted) : m.build_sorted(sorted); };
    int thrown = 0;
    for (long calls = 0; throws(calls, build); calls += 1 + calls / 8) {
      ++thrown;
      ASSERT_EQ(m.size(), 1U);
      ASSERT_TRUE(m.begin() == kept);
      ASSERT_EQ(std::as_const(m).get(7), 8);
    }
    EXPECT_GT(thrown, 10);
    EXPECT_EQ(m.size(), sorted.size());
    EXPECT_GT(store.allocated_bytes(), 0U);
  }
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

}  // namespace
}  // namespace outsize
