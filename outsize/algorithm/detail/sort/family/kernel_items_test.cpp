// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Items that only a kernel looks into: their chunks, views and triggers.

#include <outsize/algorithm/detail/sort/family/kernel_items.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <outsize/base/units.hpp>

namespace outsize::detail {
namespace {

/// Items of 12 bytes whose first is the key.
class by_first_byte final : public item_kernel {
 public:
  static constexpr std::size_t bytes = 12;

  explicit by_first_byte(bool out_of_place)
      : item_kernel({.item_bytes = bytes,

                     .sorts_out_of_place = out_of_place,
                     .combines = false}) {}

  bool less(std::byte const* a, std::byte const* b) const override { return *a < *b; }
  void sort(std::span<std::byte> items, std::span<std::byte> to) const override {
    EXPECT_EQ(to.size(), traits().sorts_out_of_place ? items.size() : 0U);
    std::vector<std::array<std::byte, bytes>> all(items.size() / bytes);
    std::memcpy(all.data(), items.data(), items.size());
    std::ranges::stable_sort(all, {}, [](auto const& item) { return item[0]; });
    std::memcpy(to.empty() ? items.data() : to.data(), all.data(), items.size());
  }
  void merge(std::vector<sorted_pieces> const&, merge_places&) const override { ADD_FAILURE(); }
  std::size_t reduce(std::span<std::byte> items) const override {
    return std::min(items.size(), bytes);
  }
  void combine(std::byte*, std::byte const*) const override { ADD_FAILURE(); }
  bool in_order(std::span<std::byte const>, bool) const override { return false; }
  void reverse(std::span<std::byte const>, std::byte*) const override { ADD_FAILURE(); }
};

class kernel_items_in_memory : public testing::TestWithParam<bool> {
 protected:
  /// Items with keys 99, 98, … again and again, and their number.
  void fill(kernel_chunk& chunk, std::uint32_t count) {
    auto const room = chunk.room();
    ASSERT_GE(room.size(), count * by_first_byte::bytes);
    for (std::uint32_t i = 0; i < count; ++i) {
      room[i * by_first_byte::bytes] = static_cast<std::byte>(99 - i % 100);
      std::memcpy(&room[i * by_first_byte::bytes + 4], &i, sizeof i);
    }
    chunk.grow(count);
  }
  std::vector<kernel_view> sort(kernel_chunk& chunk, equal_items equals) {
    if (!family.sorts_out_of_place) return chunk.sort(family, threads, 3, equals);
    buffer scratch = memory.allocate(chunk.memory().size());
    return chunk.sort(family, threads, 3, equals, scratch);
  }
  static std::uint32_t number_of(std::byte const* item) {
    std::uint32_t number;
    std::memcpy(&number, item + 4, sizeof number);
    return number;
  }

  memory_budget budget{1_MiB};
  grant memory = budget.take(1_MiB, "test");
  executor threads{3};
  kernel_items family{std::make_shared<by_first_byte>(GetParam())};
};

TEST_P(kernel_items_in_memory, are_sorted_in_parts_that_keep_the_order_of_equal_ones) {
  kernel_chunk chunk(family, memory, 30 * 4096);
  std::uint32_t const count = 9'000;
  fill(chunk, count);
  EXPECT_EQ(chunk.count(), count);
  EXPECT_EQ(chunk.bytes(), count * by_first_byte::bytes);
  EXPECT_EQ(chunk.room().size() % by_first_byte::bytes, 0U);
  auto const views = sort(chunk, equal_items::kept);
  ASSERT_EQ(views.size(), 3U);
  std::uint32_t begin = 0;
  for (kernel_view const& v : views) {
    for (std::size_t i = 0; i < v.size(); ++i) {
      EXPECT_GE(number_of(v.key(i)), begin);  // parts are stretches of the input
      EXPECT_LT(number_of(v.key(i)), begin + v.size());
      if (i == 0) continue;
      EXPECT_FALSE(family.less()(v.key(i), v.key(i - 1)));
      if (family.equal(v.key(i - 1), v.key(i))) {
        EXPECT_LT(number_of(v.key(i - 1)), number_of(v.key(i)));
      }
    }
    begin += static_cast<std::uint32_t>(v.size());
  }
  EXPECT_EQ(begin, count);
  chunk.clear();
  EXPECT_EQ(chunk.count(), 0U);
}

TEST_P(kernel_items_in_memory, are_reduced_when_they_are_sorted) {
  kernel_chunk chunk(family, memory, 30 * 4096);
  fill(chunk, 100);
  auto const views = sort(chunk, equal_items::made_one);
  ASSERT_EQ(views.size(), 1U);  // too few to be parted
  EXPECT_EQ(views[0].size(), 1U);
}

TEST_P(kernel_items_in_memory, are_their_own_triggers) {
  kernel_chunk chunk(family, memory, 4096);
  fill(chunk, 2);
  auto const view = family.block_view(chunk.memory(), 2);
  auto const first = family.make_trigger(view.key(0)), second = family.make_trigger(view.key(1));
  EXPECT_TRUE(family.trigger_before(second, first));
  EXPECT_FALSE(family.trigger_before(first, second));
  EXPECT_EQ(number_of(family.trigger_key(second)), 1U);
  EXPECT_EQ(family.trigger_bytes(), by_first_byte::bytes);
}

TEST_P(kernel_items_in_memory, are_sorted_where_they_lie_by_one_thread) {
  kernel_chunk chunk(family, memory, 4096);
  fill(chunk, 300);
  std::vector<std::byte> scratch(family.scratch_bytes(chunk.bytes()));
  EXPECT_EQ(scratch.empty(), !GetParam());
  family.sort_here(chunk.memory().first(chunk.bytes()), scratch);
  auto const view = family.block_view(chunk.memory(), 300);
  for (std::size_t i = 1; i < 300; ++i)
    EXPECT_FALSE(family.less()(view.key(i), view.key(i - 1))) << i;
}

INSTANTIATE_TEST_SUITE_P(in_and_out_of_place, kernel_items_in_memory, testing::Bool());

}  // namespace
}  // namespace outsize::detail
