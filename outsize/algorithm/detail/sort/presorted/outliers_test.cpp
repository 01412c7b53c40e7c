// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Outliers merged into a file in memory, with blocks of a few items, against a stable sort.

#include <outsize/algorithm/detail/sort/presorted/outliers.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/effort.hpp>

namespace outsize::detail {
namespace {

struct numbered {
  std::uint64_t key;
  std::uint64_t place;  // in the input

  bool operator==(numbered const&) const = default;
};
using sequence = std::vector<numbered>;

std::span<numbered> typed(std::span<std::byte> bytes) {
  return {reinterpret_cast<numbered*>(bytes.data()), bytes.size() / sizeof(numbered)};
}

item_operations operations() {
  auto const by_key = [](numbered const& a, numbered const& b) { return a.key < b.key; };
  return {.item_bytes = sizeof(numbered),
          .in_order =
              [=](std::span<std::byte const> bytes, bool descending) {
                sequence items(bytes.size() / sizeof(numbered));
                std::memcpy(items.data(), bytes.data(), bytes.size());
                if (!descending) return std::ranges::is_sorted(items, by_key);
                return std::ranges::adjacent_find(items, [&](auto const& a, auto const& b) {
                         return !by_key(b, a);
                       }) == items.end();
              },
          .reverse = {},
          .scratch_bytes = [](std::size_t bytes) { return bytes; },
          .sort = [=](auto items, auto) { std::ranges::stable_sort(typed(items), by_key); }};
}

/// Items of one kind: of few keys, so that many are alike.
sequence random_items(std::size_t count, std::uint64_t first_place, std::mt19937_64& random) {
  sequence items(count);
  for (auto& x : items) x = {random() % 50, first_place++};
  return items;
}
void sort_all(sequence& items) {
  std::ranges::sort(items, [](auto const& a, auto const& b) {
    return a.key != b.key ? a.key < b.key : a.place < b.place;
  });
}

/// Passes the items on in groups, in the order in which the pass takes them.
template <typename Put>
void put_in_groups(sequence const& items, bool from_the_end, std::mt19937_64& random, Put put) {
  std::span<numbered const> left(items);
  while (!left.empty()) {
    std::size_t const count = 1 + random() % std::min<std::size_t>(left.size(), 5);
    ASSERT_TRUE(put(std::as_bytes(from_the_end ? left.last(count) : left.first(count))));
    left = from_the_end ? left.first(left.size() - count) : left.subspan(count);
  }
}

TEST(outliers, are_merged_into_their_places) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  auto const of_numbers = operations();
  for (int i = 0; i < scratch::operations(300) && !testing::Test::HasFailure(); ++i) {
    bool const from_the_end = i % 2 == 0;
    std::size_t const buffer_bytes = sizeof(numbered) * (1 + random() % 20);
    // Those that are put aside early come before all others in the pass, late ones behind them.
    auto before = random_items(random() % 40, 0, random);
    auto ordered = random_items(random() % 300, 1000, random);
    auto after = random_items(random() % 40, 2000, random);
    memory_budget budget(1_MiB);
    outliers tested(budget, 64_KiB, of_numbers, from_the_end);
    put_in_groups(from_the_end ? after : before, from_the_end, random,
                  [&](auto items) { return tested.put_early(items); });
    put_in_groups(from_the_end ? before : after, from_the_end, random,
                  [&](auto items) { return tested.put_late(items); });
    sort_all(ordered);
    auto const file = io::make_memory_file("merged", 1_MiB);
    file->write(0, std::as_bytes(std::span(ordered)))->wait();
    std::uint64_t const aside_bytes = tested.bytes();
    EXPECT_EQ(aside_bytes, (before.size() + after.size()) * sizeof(numbered));
    if (aside_bytes > 0)
      tested.merge_into(*file, ordered.size() * sizeof(numbered), budget, {.threads = 2},
                        buffer_bytes, {});
    EXPECT_EQ(tested.bytes(), 0U);
    sequence expected = ordered;
    expected.insert(expected.end(), before.begin(), before.end());
    expected.insert(expected.end(), after.begin(), after.end());
    sort_all(expected);
    sequence found(expected.size());
    file->read(0, std::as_writable_bytes(std::span(found)))->wait();
    EXPECT_TRUE(found == expected);
  }
}

TEST(outliers, are_refused_when_there_is_no_room_and_stay_as_they_were) {
  auto const of_numbers = operations();
  memory_budget budget(1_MiB);
  std::uint64_t const memory = 8 * page_bytes();
  outliers tested(budget, memory, of_numbers, false);
  std::size_t const room = outliers::capacity_bytes(memory, of_numbers) / sizeof(numbered);
  EXPECT_GT(room * sizeof(numbered), memory / 6);
  sequence const items(room);
  EXPECT_TRUE(tested.put_late(std::as_bytes(std::span(items))));
  EXPECT_FALSE(tested.put_late(std::as_bytes(std::span(items).first(1))));
  EXPECT_TRUE(tested.put_early(std::as_bytes(std::span(items))));
  EXPECT_EQ(tested.bytes(), 2 * room * sizeof(numbered));
  auto const file = io::make_memory_file("merged", 1_MiB);
  tested.merge_into(*file, 0, budget, {.threads = 2}, 4096, {});
  EXPECT_EQ(file->size_bytes(), 2 * room * sizeof(numbered));
}

TEST(outliers, ask_for_no_more_than_they_were_given) {
  auto const of_numbers = operations();
  for (std::uint64_t const pages : {3U, 4U, 11U}) {
    memory_budget budget(pages * page_bytes());
    EXPECT_NO_THROW(outliers(budget, pages * page_bytes(), of_numbers, false));
    EXPECT_EQ(budget.free_bytes(), budget.total_bytes());
  }
}

}  // namespace
}  // namespace outsize::detail
