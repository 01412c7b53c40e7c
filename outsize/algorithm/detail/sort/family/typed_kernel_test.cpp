// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A kernel does for bytes what the family does for its items, small ones and large ones.

#include <outsize/algorithm/detail/sort/family/typed_kernel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include <outsize/algorithm/detail/sort/family/combining_items.hpp>
#include <outsize/algorithm/detail/sort/family/typed_items.hpp>
#include <outsize/algorithm/item_order.hpp>
#include <outsize/base/units.hpp>

namespace outsize::detail {
namespace {

template <std::size_t Rest>
struct item {
  std::uint32_t key;
  std::uint32_t place;
  std::array<std::uint32_t, Rest> rest;
};
template <typename Item>
struct by_key {
  bool operator()(Item const& a, Item const& b) const { return a.key < b.key; }
};

/// Places of some items each.
template <typename Item>
class short_rooms final : public merge_places {
 public:
  explicit short_rooms(std::vector<Item>& to) : rest_(std::as_writable_bytes(std::span(to))) {}
  std::span<std::byte> room() override {
    return rest_.first(std::min(rest_.size(), 37 * sizeof(Item)));
  }
  void used(std::size_t bytes) override { rest_ = rest_.subspan(bytes); }
  bool is_full() const { return rest_.empty(); }

 private:
  std::span<std::byte> rest_;
};

template <typename Item>
class kernel_of : public testing::Test {
 protected:
  using family = typed_items<Item, by_key<Item>>;

  std::vector<Item> random_items(std::size_t count) {
    std::vector<Item> items(count);
    for (std::uint32_t i = 0; i < count; ++i)
      items[i] = {static_cast<std::uint32_t>(random() % 50), i, {}};
    return items;
  }
  static bool is_stably_sorted(std::vector<Item> const& items) {
    return std::ranges::is_sorted(
        items, {}, [](Item const& i) { return std::uint64_t{i.key} << 32 | i.place; });
  }

  std::mt19937_64 random{7};
  typed_kernel<family> kernel{family(by_key<Item>())};
};
using sizes = testing::Types<item<0>, item<3>, item<20>>;
TYPED_TEST_SUITE(kernel_of, sizes);

TYPED_TEST(kernel_of, items_sorts_them) {
  auto items = this->random_items(5000);
  std::vector<TypeParam> to(this->kernel.traits().sorts_out_of_place ? items.size() : 0);
  this->kernel.sort(std::as_writable_bytes(std::span(items)),
                    std::as_writable_bytes(std::span(to)));
  EXPECT_EQ(this->kernel.traits().item_bytes, sizeof(TypeParam));
  EXPECT_TRUE(this->is_stably_sorted(to.empty() ? items : to));
}

TYPED_TEST(kernel_of, items_merges_them_and_decides_ties_by_source) {
  for (std::size_t const sources : {1, 2, 7}) {
    auto items = this->random_items(sources * 1000);
    std::vector<sorted_pieces> pieces(sources);
    for (std::size_t s = 0; s < sources; ++s) {
      std::span const source = std::span(items).subspan(s * 1000, 1000);
      std::ranges::stable_sort(source, by_key<TypeParam>());
      pieces[s] = {std::as_bytes(source.first(300)), std::as_bytes(source.subspan(300))};
    }
    std::vector<TypeParam> merged(items.size());
    short_rooms rooms(merged);
    this->kernel.merge(pieces, rooms);
    EXPECT_TRUE(rooms.is_full());
    EXPECT_TRUE(this->is_stably_sorted(merged));
  }
}

TYPED_TEST(kernel_of, items_leaves_the_first_of_equal_ones) {
  auto items = this->random_items(1000);
  std::ranges::stable_sort(items, by_key<TypeParam>());
  auto want = items;
  auto const same = [](TypeParam const& a, TypeParam const& b) { return a.key == b.key; };
  want.erase(std::ranges::unique(want, same).begin(), want.end());
  std::size_t const bytes = this->kernel.reduce(std::as_writable_bytes(std::span(items)));
  ASSERT_EQ(bytes, want.size() * sizeof(TypeParam));
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_EQ(items[i].place, want[i].place);
}

TYPED_TEST(kernel_of, items_sees_order_and_turns_it_round) {
  auto items = this->random_items(300);
  auto const bytes = std::as_bytes(std::span(items));
  EXPECT_FALSE(this->kernel.in_order(bytes, false));
  for (std::uint32_t i = 0; i < items.size(); ++i) items[i].key = i;
  EXPECT_TRUE(this->kernel.in_order(bytes, false));
  EXPECT_TRUE(this->kernel.less(bytes.data(), bytes.data() + sizeof(TypeParam)));
  std::vector<TypeParam> reversed(items.size());
  this->kernel.reverse(bytes, std::as_writable_bytes(std::span(reversed)).data());
  EXPECT_TRUE(this->kernel.in_order(std::as_bytes(std::span(reversed)), true));
  EXPECT_EQ(reversed.front().key, 299U);
}

TEST(typed_kernel, combines_as_the_family_does) {
  using pair = item<0>;
  auto const add = [](pair const& a, pair const& b) { return pair{a.key, a.place + b.place, {}}; };
  using base = typed_items<pair, by_key<pair>>;
  typed_kernel<combining_items<base, pair, decltype(add)>> const kernel({base({}), add});
  EXPECT_TRUE(kernel.traits().combines);
  std::vector<pair> items{{1, 10, {}}, {1, 20, {}}, {2, 5, {}}};
  EXPECT_EQ(kernel.reduce(std::as_writable_bytes(std::span(items))), 2 * sizeof(pair));
  EXPECT_EQ(items[0].place, 30U);
  auto const bytes = std::as_writable_bytes(std::span(items));
  kernel.combine(bytes.data(), bytes.data());
  EXPECT_EQ(items[0].place, 60U);
}

TEST(typed_reducer, combines_numbers_whose_keys_are_equal) {
  struct tally {
    std::uint64_t key, count;
  };
  auto const order = by(&tally::key);
  auto const add = [](tally const& a, tally const& b) { return tally{a.key, a.count + b.count}; };
  using base = family_of<tally, std::remove_const_t<decltype(order)>>;
  using family = combining_items<base::type, tally, decltype(add)>;
  family const numbers(base::make(order), add);
  typed_reducer<family> const reducer(numbers);
  std::vector<tally> items{{7, 2}, {7, 1}, {8, 0}};
  auto const bytes = std::as_writable_bytes(std::span(items));
  numbers.sort_part({reinterpret_cast<word_pair*>(bytes.data()), items.size()});
  ASSERT_EQ(reducer.reduce(bytes), 2 * sizeof(tally));
  numbers.finish(bytes);
  EXPECT_EQ(items[0].count, 3U);
  EXPECT_EQ(items[1].key, 8U);
}

TEST(typed_words, are_those_of_the_order) {
  using large = item<40>;
  auto const order = by(&large::key, std::greater<>());
  typed_words<large, std::remove_const_t<decltype(order)>> const words(order);
  std::vector<large> const items{{1, 0, {}}, {2, 0, {}}};
  auto const bytes = std::as_bytes(std::span(items));
  EXPECT_EQ(words.item_bytes(), sizeof(large));
  EXPECT_GT(words.word(bytes.data()), words.word(bytes.data() + sizeof(large)));
}

}  // namespace
}  // namespace outsize::detail
