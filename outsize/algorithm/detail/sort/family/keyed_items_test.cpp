// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Large items in chunks, as records whose words say their order.

#include <outsize/algorithm/detail/sort/family/keyed_items.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/base/units.hpp>

namespace outsize::detail {
namespace {

struct large {
  std::array<char, 68> rest;
  std::uint16_t key;
  std::uint32_t order;
};
struct by_key {
  std::uint16_t most;
  std::uint64_t word(large const& item) const { return most - item.key; }
  bool operator()(large const& a, large const& b) const { return word(a) < word(b); }
};
static_assert(is_keyed_item<large, by_key>);

keyed_items items_by_key() {
  return keyed_items(std::make_shared<typed_words<large, by_key> const>(by_key{100}));
}

struct keyed_items_in_memory : testing::Test {
  memory_budget budget{1_MiB};
  grant memory = budget.take(1_MiB, "test");
  executor threads{3};
};

TEST_F(keyed_items_in_memory, sort_a_chunk_in_parts_that_keep_the_input_order_of_equal_items) {
  std::optional<keyed_items> given(items_by_key());
  keyed_items const family = *given;
  given.reset();  // what it refers to lives on
  keyed_items::chunk chunk(family, memory, 512_KiB);
  ASSERT_LE(chunk.room().size() / sizeof(large), 512_KiB / (sizeof(large) + sizeof(prefix_entry)));
  std::mt19937_64 random(3);
  std::uint32_t const count = 5'000;
  auto* const room = reinterpret_cast<large*>(chunk.room().data());
  for (std::uint32_t i = 0; i < count; ++i)
    room[i] = {{}, static_cast<std::uint16_t>(random() % 100), i};
  chunk.grow(count);
  EXPECT_EQ(chunk.bytes(), count * sizeof(large));
  auto const views = chunk.sort(family, threads, 3);
  ASSERT_EQ(views.size(), 3U);
  std::size_t begin = 0;
  for (auto const& v : views) {
    std::vector<large> items(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) {
      family.store(v.key(i), reinterpret_cast<std::byte*>(&items[i]));
      EXPECT_GE(items[i].order, begin);  // parts are stretches of the input
      EXPECT_LT(items[i].order, begin + v.size());
      if (i == 0) continue;
      EXPECT_GE(items[i - 1].key, items[i].key);
      if (items[i - 1].key == items[i].key) {
        EXPECT_LT(items[i - 1].order, items[i].order);
      }
    }
    begin += v.size();
  }
  EXPECT_EQ(begin, count);
}

TEST_F(keyed_items_in_memory, have_their_words_as_triggers) {
  keyed_items const family = items_by_key();
  std::array<large, 2> const items{large{{}, 7, 0}, large{{}, 6, 1}};
  auto const view = family.block_view(std::as_bytes(std::span(items)), 2);
  auto const trigger = family.make_trigger(view.key(0));
  EXPECT_EQ(trigger, 93U);
  EXPECT_TRUE(family.trigger_is_exact(trigger));
  EXPECT_TRUE(family.equal(view.key(0), family.trigger_key(trigger)));
  EXPECT_TRUE(family.less()(family.trigger_key(trigger), view.key(1)));
}

}  // namespace
}  // namespace outsize::detail
