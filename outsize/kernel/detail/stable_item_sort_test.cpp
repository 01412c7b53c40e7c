// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Against std::stable_sort, with items that may lie anywhere and such that may not.

#include <outsize/kernel/detail/stable_item_sort.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace outsize::detail {
namespace {

template <std::size_t Alignment>
struct alignas(Alignment) aligned_item {
  std::uint32_t key, place;
  friend bool operator==(aligned_item const&, aligned_item const&) = default;
};

template <std::size_t Alignment>
void expect_sorts() {
  using item = aligned_item<Alignment>;
  std::mt19937_64 random(Alignment);
  for (std::size_t const count : {0, 1, 2, 100, 20'000}) {
    std::vector<item> items(count);
    for (std::uint32_t i = 0; i < count; ++i)
      items[i] = {static_cast<std::uint32_t>(random() % 300), i};
    auto want = items;
    std::ranges::stable_sort(want, {}, &item::key);
    bool aligned = true;
    stable_item_sort(std::span(items), [&](item const& a, item const& b) {
      for (item const* one : {&a, &b})
        aligned &= reinterpret_cast<std::uintptr_t>(one) % Alignment == 0;
      return a.key < b.key;
    });
    EXPECT_TRUE(items == want) << count << " items";
    EXPECT_TRUE(aligned);
  }
}

TEST(stable_item_sort, keeps_the_order_of_equal_items) {
  expect_sorts<8>();
  expect_sorts<16>();
}

TEST(stable_item_sort, shows_items_where_their_type_asks) {
  expect_sorts<32>();
  expect_sorts<64>();
}

}  // namespace
}  // namespace outsize::detail
