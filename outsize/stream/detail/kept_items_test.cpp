// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Kept items are as they were, whatever becomes of the items that they were copied from.
#include <outsize/stream/detail/kept_items.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace outsize::stream::detail {
namespace {

TEST(kept_items, are_copies_in_order) {
  kept_items<std::uint64_t> kept;
  EXPECT_TRUE(kept.empty());
  for (std::uint64_t i = 0; i < 1000; ++i) kept.push(i * i);
  ASSERT_EQ(kept.size(), 1000U);
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(kept[i], i * i);
  EXPECT_EQ(kept.bytes(), 8000U);
  kept.clear();
  EXPECT_TRUE(kept.empty());
}

TEST(kept_items, own_the_bytes_of_strings) {
  for (int round = 0; round < 3; ++round) {
    kept_items<std::string_view> kept;
    std::vector<std::string> expected;
    for (std::size_t part = 0; part < 2; ++part) {
      kept.clear();
      expected.clear();
      for (std::size_t i = 0; i < 3000; ++i) {
        std::string item(i == 1000 ? 200'000 : i % 90, static_cast<char>('a' + i % 26));
        kept.push(item);
        expected.push_back(item);
        item.assign(item.size(), '?');
      }
    }
    ASSERT_EQ(kept.size(), expected.size());
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(kept[i], expected[i]);
      bytes += expected[i].size();
    }
    EXPECT_GE(kept.bytes(), bytes);
  }
}

TEST(kept_items, own_the_bytes_of_strings_in_tuples) {
  using item = std::tuple<std::string_view, int>;
  kept_items<item> kept;
  for (int i = 0; i < 500; ++i) {
    std::string text = std::to_string(i);
    kept.push(item(text, i));
    text = "other";
  }
  for (int i = 0; i < 500; ++i) {
    auto const& [text, number] = kept[static_cast<std::size_t>(i)];
    EXPECT_EQ(text, std::to_string(number));
    EXPECT_EQ(number, i);
  }
}

TEST(item_places, have_the_address_of_an_item_wherever_it_lies) {
  int const lying = 3;
  item_place<int const&> by_reference;
  EXPECT_EQ(by_reference.address_of(lying), &lying);
  item_place<int> by_value;
  EXPECT_EQ(*by_value.address_of(5), 5);
  item_place<std::string const&> string;
  std::string const text = "text";
  std::string_view const* const view = string.address_of(text);
  EXPECT_EQ(view->data(), text.data());
  item_place<std::string> made;
  EXPECT_EQ(*made.address_of(std::string(100, 'x')), std::string(100, 'x'));
}

}  // namespace
}  // namespace outsize::stream::detail
