// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Stretches of equal items become one item each, in place, for items and for records of one size.

#include <outsize/algorithm/detail/sort/family/reduction.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <outsize/algorithm/detail/sort/family/record_items.hpp>
#include <outsize/algorithm/detail/sort/family/typed_items.hpp>
#include <outsize/kernel/byte_order.hpp>

namespace outsize::detail {
namespace {

struct pair {
  std::uint32_t key, place;
  friend bool operator==(pair const&, pair const&) = default;
};
struct by_key {
  bool operator()(pair const& a, pair const& b) const { return a.key < b.key; }
};

std::vector<pair> sorted_pairs(std::size_t count, std::uint32_t keys) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<pair> all(count);
  for (std::uint32_t i = 0; i < count; ++i)
    all[i] = {static_cast<std::uint32_t>(random()) % keys, i};
  std::stable_sort(all.begin(), all.end(), by_key{});
  return all;
}

TEST(reduction, keeps_the_first_of_equal_items_of_a_type) {
  typed_items<pair, by_key> const family{by_key{}};
  for (std::size_t count : {0, 1, 2, 3, 1000})
    for (std::uint32_t keys : {1, 2, 30, 1'000'000}) {
      auto items = sorted_pairs(count, keys);
      auto want = items;
      want.erase(std::ranges::unique(want, {}, &pair::key).begin(), want.end());
      std::size_t const left = reduce_sorted(family, std::as_writable_bytes(std::span(items)));
      ASSERT_EQ(left, want.size() * sizeof(pair)) << count << " items of " << keys << " keys";
      EXPECT_TRUE(std::ranges::equal(want, std::span(items).first(want.size())));
    }
}

TEST(reduction, keeps_the_first_of_equal_records_of_one_size) {
  byte_order const order;
  record_items<byte_order> const family(order, 3);
  std::string records = "aaaaaaabcabcabdxyzxyz";
  auto const bytes = std::as_writable_bytes(std::span(records));
  EXPECT_EQ(reduce_sorted(family, bytes), 12U);
  EXPECT_EQ(records.substr(0, 12), "aaaabcabdxyz");
}

TEST(reduction, of_words_looks_at_the_key_alone) {
  typed_items<word_pair, std::less<>> const family{{}};
  std::vector<word_pair> items{{1, 5}, {2, 5}, {0, 6}, {3, 6}, {3, 7}};
  std::size_t const left = reduce_sorted(family, std::as_writable_bytes(std::span(items)));
  ASSERT_EQ(left, 3 * sizeof(word_pair));
  EXPECT_EQ(items[0], (word_pair{1, 5}));
  EXPECT_EQ(items[1], (word_pair{0, 6}));
  EXPECT_EQ(items[2], (word_pair{3, 7}));
}

}  // namespace
}  // namespace outsize::detail
