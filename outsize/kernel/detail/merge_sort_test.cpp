// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The merge sort against std::stable_sort: orders, lengths, items that are in order already, and an
// order that is none.

#include <outsize/kernel/detail/merge_sort.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include <outsize/testing/tagged_item.hpp>

namespace outsize::detail {
namespace {

using tagged = scratch::tagged_item;
constexpr scratch::by_key by_key;

template <typename Less>
void expect_sorts(std::vector<tagged> items, Less const& less) {
  auto want = items;
  std::ranges::stable_sort(want, less);
  std::vector<tagged> to(items.size());
  merge_sort<tagged, Less>(less).sort_into(items, to);
  ASSERT_TRUE(to == want) << items.size() << " items";
}

std::vector<tagged> items_of(std::size_t count, auto const& key) {
  std::vector<tagged> items(count);
  for (std::size_t i = 0; i < count; ++i)
    items[i] = {static_cast<std::uint32_t>(key(i)), static_cast<std::uint32_t>(i)};
  return items;
}

TEST(merge_sort, sorts_any_number_of_items_stably) {
  for (std::size_t count = 0; count < 300; ++count)
    for (std::uint32_t distinct : {2U, 20U, 0xFFFFFFFFU}) {
      std::mt19937_64 random(count * 7 + distinct);
      expect_sorts(items_of(count, [&](std::size_t) { return random() % distinct; }), by_key);
    }
  for (std::size_t count : {4096, 4097, 65'535, 100'003}) {
    std::mt19937_64 random(count);
    expect_sorts(items_of(count, [&](std::size_t) { return random() % 50'000; }), by_key);
  }
}

TEST(merge_sort, sorts_every_order_of_four) {
  for (std::uint32_t code = 0; code < 256; ++code)
    expect_sorts(items_of(4, [&](std::size_t i) { return code >> (2 * i) & 3; }), by_key);
}

TEST(merge_sort, sorts_what_is_nearly_in_order_or_in_the_opposite_one) {
  for (std::size_t count : {5, 64, 1000, 10'000}) {
    expect_sorts(items_of(count, [](std::size_t i) { return i; }), by_key);
    expect_sorts(items_of(count, [&](std::size_t i) { return count - i; }), by_key);
    expect_sorts(items_of(count, [](std::size_t i) { return i % 97 == 0 ? i / 2 : i; }), by_key);
    expect_sorts(items_of(count, [&](std::size_t i) { return i < count / 2 ? i + 9 : i; }), by_key);
  }
}

TEST(merge_sort, asks_for_few_comparisons_of_what_is_in_order) {
  std::size_t asked = 0;
  auto const counted = [&](tagged const& a, tagged const& b) {
    ++asked;
    return a.key < b.key;
  };
  auto items = items_of(1 << 16, [](std::size_t i) { return i; });
  std::vector<tagged> to(items.size());
  merge_sort<tagged, decltype(counted)>(counted).sort_into(items, to);
  EXPECT_LE(asked, items.size() * 2);
}

TEST(merge_sort, makes_no_more_comparisons_than_its_cuts_need) {
  std::size_t asked = 0;
  auto const counted = [&](tagged const& a, tagged const& b) {
    ++asked;
    return a.key < b.key;
  };
  std::mt19937_64 random(5);
  auto items = items_of(1 << 14, [&](std::size_t) { return random(); });
  std::vector<tagged> to(items.size());
  merge_sort<tagged, decltype(counted)>(counted).sort_into(items, to);
  EXPECT_LE(asked, items.size() * 16);  // log n = 14
}

TEST(merge_sort, loses_no_item_under_an_order_that_is_none) {
  std::mt19937_64 random(9);
  for (std::size_t const count : {8, 64, 100, 4096, 5000}) {
    auto const given = items_of(count, [&](std::size_t) { return random() % 100; });
    auto const by_chance = [&](tagged const&, tagged const&) { return random() % 2 == 0; };
    auto items = given;
    std::vector<tagged> to(count);
    merge_sort<tagged, decltype(by_chance)>(by_chance).sort_into(items, to);
    std::ranges::sort(to, {}, &tagged::tag);
    EXPECT_TRUE(to == given) << count << " items";
  }
}

}  // namespace
}  // namespace outsize::detail
