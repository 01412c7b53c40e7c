// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Runs that are formed, kept and merged apart come out as one sort would put them.
#include <outsize/algorithm/sorted_runs.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/sorter.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/counted_storage.hpp>

namespace outsize {
namespace {

struct entry {
  std::uint32_t key, place;
  bool operator==(entry const&) const = default;
};

std::vector<entry> some(std::size_t count) {
  std::mt19937 random(static_cast<std::uint32_t>(count));
  std::vector<entry> all(count);
  for (std::uint32_t i = 0; i < count; ++i)
    all[i] = {static_cast<std::uint32_t>(random() % (count / 2 + 1)), i};
  return all;
}

template <typename Runs>
auto merged(Runs runs) {
  std::vector<typename Runs::value_type> out;
  for (auto const& e : runs_merger(std::move(runs))) out.push_back(e);
  return out;
}

TEST(sorted_runs, come_out_in_order) {
  auto const by_key = by(&entry::key);
  for (std::size_t const count : {0, 1, 1000, 300'000}) {
    scratch::counted_storage s;
    runs_creator<entry, decltype(by_key)> creator(s.store, by_key);
    auto items = some(count);
    for (entry const& e : items) creator.push(e);
    EXPECT_EQ(creator.size(), count);
    auto runs = creator.finish();
    EXPECT_EQ(runs.size(), count);
    std::ranges::stable_sort(items, {}, &entry::key);
    EXPECT_EQ(merged(std::move(runs)), items);
    EXPECT_EQ(s.store.allocated_bytes(), 0U);
  }
}

TEST(sorted_runs, of_several_creators_are_fed_by_one_loop_and_kept) {
  scratch::counted_storage s(4_MiB);
  auto items = some(200'000);
  auto const up = by(&entry::key);
  auto const down = by(&entry::key, std::greater<>());
  runs_creator<entry, decltype(up)> first(s.store, up);
  runs_creator<entry, decltype(down)> second(s.store, down);
  for (entry const& e : items) {
    first.push(e);
    second.push(e);
  }
  auto kept = first.finish();
  auto other = second.finish();
  first.push(items.front());  // a creator begins anew
  std::ranges::stable_sort(items, {}, &entry::key);
  EXPECT_EQ(merged(std::move(kept)), items);
  EXPECT_EQ(merged(first.finish()).size(), 1U);
  std::ranges::stable_sort(items, std::greater<>(), &entry::key);
  EXPECT_EQ(merged(std::move(other)), items);
}

TEST(sorted_runs, at_rest_leave_their_memory_to_others) {
  scratch::counted_storage s(4_MiB);
  runs_creator<std::uint64_t> creator(s.store);
  for (std::uint64_t i = 0; i < 200'000; ++i) creator.push(i * 7919 % 200'000);
  auto runs = creator.finish();
  { auto const others = s.store.memory().take(3_MiB, "others"); }
  EXPECT_GT(s.writes(), 0U);
  auto const all = merged(std::move(runs));
  ASSERT_EQ(all.size(), 200'000U);
  for (std::uint64_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i);
}

TEST(sorted_runs, take_sequences_that_are_sorted) {
  scratch::counted_storage s;
  std::vector<std::uint64_t> a(1000), b(500);
  for (std::uint64_t i = 0; i < a.size(); ++i) a[i] = 3 * i;
  for (std::uint64_t i = 0; i < b.size(); ++i) b[i] = 5 * i;
  runs_creator<std::uint64_t> creator(s.store);
  creator.push_sorted(a);
  creator.push_sorted(b);
  auto expected = a;
  expected.insert(expected.end(), b.begin(), b.end());
  std::ranges::sort(expected);
  EXPECT_EQ(merged(creator.finish()), expected);
  std::swap(a[10], a[500]);
  EXPECT_THROW(creator.push_sorted(a), format_error);
}

TEST(sorted_runs, that_are_not_merged_free_their_blocks) {
  scratch::counted_storage s;
  runs_creator<std::uint64_t> creator(s.store);
  for (std::uint64_t i = 0; i < 500'000; ++i) creator.push(i);
  {
    auto runs = creator.finish();
    EXPECT_GT(s.store.allocated_bytes(), 0U);
    auto moved = std::move(runs);
    EXPECT_TRUE(runs.empty());  // NOLINT(bugprone-use-after-move): it is empty then
    EXPECT_EQ(moved.size(), 500'000U);
  }
  EXPECT_EQ(s.store.allocated_bytes(), 0U);
  EXPECT_TRUE(merged(sorted_runs<std::uint64_t>()).empty());
}

}  // namespace
}  // namespace outsize
