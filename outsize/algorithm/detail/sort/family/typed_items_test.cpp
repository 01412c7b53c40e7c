// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Items of one type in chunks, blocks and triggers; small ones go by value, large ones by address.

#include <outsize/algorithm/detail/sort/family/typed_items.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <random>
#include <vector>

#include <outsize/algorithm/detail/sort/family/typed_chunk.hpp>
#include <outsize/base/units.hpp>

namespace outsize::detail {
namespace {

struct large {
  std::uint32_t key;
  std::uint32_t order;
  std::array<char, 40> rest;
};
struct by_key {
  bool operator()(large const& a, large const& b) const { return a.key < b.key; }
};

static_assert(std::same_as<typed_view<std::uint64_t>::key_type, std::uint64_t>);
static_assert(std::same_as<typed_view<large>::key_type, large const*>);

struct typed_items_in_memory : testing::Test {
  memory_budget budget{1_MiB};
  grant memory = budget.take(1_MiB, "test");
  executor threads{3};
};

TEST_F(typed_items_in_memory, sort_a_chunk_in_parts_that_keep_the_input_order_of_equal_items) {
  typed_items<large, by_key> const family{by_key{}};
  typed_chunk<typed_items<large, by_key>> chunk(memory, 10'000 * sizeof(large));
  std::mt19937_64 random(3);
  std::uint32_t const count = 9'000;
  for (std::uint32_t i = 0; i < count; ++i)
    chunk.room()[i] = {static_cast<std::uint32_t>(random() % 100), i, {}};
  chunk.grow(count);
  EXPECT_EQ(chunk.count(), count);
  EXPECT_EQ(chunk.bytes(), count * sizeof(large));
  EXPECT_EQ(chunk.room().size(), 1'000U);
  auto const views = chunk.sort(family, threads, 3);
  ASSERT_EQ(views.size(), 3U);
  std::size_t begin = 0;
  for (auto const& v : views) {
    for (std::size_t i = 0; i < v.size(); ++i) {
      EXPECT_GE(v.key(i)->order, begin);  // parts are stretches of the input
      EXPECT_LT(v.key(i)->order, begin + v.size());
      if (i == 0) continue;
      EXPECT_LE(v.key(i - 1)->key, v.key(i)->key);
      if (v.key(i - 1)->key == v.key(i)->key) {
        EXPECT_LT(v.key(i - 1)->order, v.key(i)->order);
      }
    }
    begin += v.size();
  }
  EXPECT_EQ(begin, count);
}

TEST_F(typed_items_in_memory, small_ones_sort_a_chunk_into_memory_that_takes_its_place) {
  struct small {
    std::uint32_t key, order;
  };
  auto const less = [](small const& a, small const& b) { return a.key < b.key; };
  using family_type = typed_items<small, decltype(less)>;
  static_assert(family_type::sorts_out_of_place);
  static_assert(!typed_items<large, by_key>::sorts_out_of_place);
  static_assert(!typed_items<std::uint64_t, std::less<>>::sorts_out_of_place);
  family_type const family{less};
  typed_chunk<family_type> chunk(memory, 10'000 * sizeof(small));
  buffer scratch = memory.allocate(10'000 * sizeof(small));
  auto const* const place = scratch.data();
  std::mt19937_64 random(4);
  std::uint32_t const count = 9'001;
  for (std::uint32_t i = 0; i < count; ++i)
    chunk.room()[i] = {static_cast<std::uint32_t>(random() % 1000), i};
  chunk.grow(count);
  auto const views = chunk.sort(family, threads, 3, equal_items::kept, scratch);
  ASSERT_EQ(views.size(), 3U);
  EXPECT_NE(scratch.data(), place);
  EXPECT_EQ(static_cast<void const*>(views[0].items(0, 1).data()), place);
  std::size_t seen = 0;
  for (auto const& v : views) {
    seen += v.size();
    EXPECT_TRUE(std::ranges::is_sorted(v.items(0, v.size()), [](small a, small b) {
      return a.key != b.key ? a.key < b.key : a.order < b.order;
    }));
  }
  EXPECT_EQ(seen, count);
}

TEST_F(typed_items_in_memory, travel_in_ordered_form_and_end_as_they_came) {
  typed_items<std::uint64_t, std::less<>> const family({},
                                                       {ordered_bits::kind::floating_point, true});
  std::vector<double> const values{1.5, -0.0, -3.0, 0.0, 1e300};
  std::vector<std::uint64_t> bits;
  for (double v : values) bits.push_back(std::bit_cast<std::uint64_t>(v));
  family.sort_part(bits);
  family.finish(std::as_writable_bytes(std::span(bits)));
  std::vector<double> out;
  for (auto b : bits) out.push_back(std::bit_cast<double>(b));
  EXPECT_EQ(out, (std::vector<double>{1e300, 1.5, 0.0, -0.0, -3.0}));
}

TEST_F(typed_items_in_memory, are_their_own_triggers) {
  typed_items<large, by_key> const family{by_key{}};
  large const item{7, 1, {}};
  auto const trigger = family.make_trigger(&item);
  EXPECT_TRUE(family.trigger_is_exact(trigger));
  EXPECT_EQ(family.trigger_key(trigger)->key, 7U);
  EXPECT_TRUE(family.equal(&item, family.trigger_key(trigger)));
}

TEST_F(typed_items_in_memory, are_stored_as_their_bytes) {
  typed_items<large, by_key> const family{by_key{}};
  std::array<large, 2> const items{large{1, 2, {}}, large{3, 4, {}}};
  std::array<std::byte, 2 * sizeof(large)> block;
  auto* end = family.store(&items[0], block.data());
  end = family.store(&items[1], end);
  EXPECT_EQ(end, block.data() + block.size());
  auto const view = family.block_view(block, 2);
  EXPECT_EQ(view.key(1)->order, 4U);
  EXPECT_EQ(view.bytes(0, 2), block.size());
}

}  // namespace
}  // namespace outsize::detail
