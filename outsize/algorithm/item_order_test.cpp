// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Each kind of order against std::stable_sort, with so little memory that runs spill.

#include <outsize/algorithm/item_order.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <random>
#include <tuple>
#include <vector>

#include <outsize/algorithm/reduce_by_key.hpp>
#include <outsize/algorithm/sort.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/effort.hpp>

namespace outsize {
namespace {

struct key_first {
  std::uint64_t key;
  std::uint64_t other;
  friend bool operator==(key_first const&, key_first const&) = default;
};
struct key_second {
  std::uint64_t other;
  std::int64_t key;
  friend bool operator==(key_second const&, key_second const&) = default;
};
struct padded {
  std::uint64_t key;
  std::uint8_t other;
};

struct mixed {  // of an odd size, with keys of all kinds
  std::array<char, 7> rest;
  bool flag;
  std::int16_t small;
  float real;
  std::uint32_t other;
};

struct large : mixed {
  std::array<char, 60> more;
};

template <typename T, typename Less>
inline constexpr bool has_kernel =
    std::same_as<typename detail::family_of<T, Less>::type,
                 detail::typed_items<detail::word_pair, std::less<>>>;
static_assert(has_kernel<key_first, decltype(by(&key_first::key))>);
static_assert(has_kernel<key_second, decltype(by(&key_second::key))>);
static_assert(!has_kernel<padded, decltype(by(&padded::key))>);
static_assert(has_kernel<key_first, decltype(by(&key_first::key, std::greater<>()))>);
static_assert(!has_kernel<key_first, decltype(in_input_order(by(&key_first::key)))>);
static_assert(has_kernel<detail::wide_unsigned, std::less<>>);

template <typename T, typename Less>
inline constexpr bool goes_by_word = detail::family_of<T, Less>::type::by_word;
static_assert(goes_by_word<padded, decltype(by(&padded::key))>);
static_assert(goes_by_word<key_first, decltype(in_input_order(by(&key_first::key)))>);
static_assert(goes_by_word<mixed, decltype(by([](mixed const& m) { return -m.small; }))>);
static_assert(goes_by_word<mixed, decltype(by(&mixed::real, std::greater<>()))>);
static_assert(!goes_by_word<mixed, decltype(by([](mixed const& m) { return m.rest; }))>);

/// Few keys, so that many are equal, at both ends of their range; others in no order.
template <typename T>
std::vector<T> random_items(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<T> all(count);
  for (T& item : all) {
    item.key = static_cast<decltype(item.key)>((random() % 1000 - 500) << 54);
    item.other = random();
  }
  return all;
}

storage_options small() {
  storage_options options;
  options.memory_bytes = 2_MiB;
  options.threads = 2;
  options.disks.emplace_back("memory",
                             [](io::request_queue&) { return io::make_memory_file("memory"); });
  return options;
}

template <typename T>
void expect_order_of_the_other_word_among_equals() {
  for (std::size_t count : {0, 1, 2, 100, 5000, 60000}) {
    SCOPED_TRACE(count);
    storage store(small());
    auto items = random_items<T>(count);
    std::vector<T> sorted;
    sort(store, items, std::back_inserter(sorted), by(&T::key),
         {.memory_bytes = 160_KiB, .block_bytes = 4096});
    std::ranges::sort(items, {}, [](T const& item) { return std::tuple(item.key, item.other); });
    EXPECT_TRUE(sorted == items);
  }
}

TEST(item_order, of_two_words_is_by_the_key_and_then_by_the_other) {
  expect_order_of_the_other_word_among_equals<key_first>();
  expect_order_of_the_other_word_among_equals<key_second>();
}

TEST(item_order, of_two_words_keeps_the_first_of_each_key_when_unique) {
  storage store(small());
  auto items = random_items<key_first>(60000);
  std::vector<key_first> sorted;
  sort(store, items, std::back_inserter(sorted), by(&key_first::key),
       {.unique = true, .memory_bytes = 160_KiB, .block_bytes = 4096});
  std::ranges::sort(items, {}, [](auto const& item) { return std::tuple(item.key, item.other); });
  items.erase(std::ranges::unique(items, {}, &key_first::key).begin(), items.end());
  EXPECT_TRUE(sorted == items);
}

TEST(item_order, of_two_words_may_be_descending) {
  storage store(small());
  auto items = random_items<key_second>(60000);
  std::vector<key_second> sorted;
  sort(store, items, std::back_inserter(sorted), by(&key_second::key, std::greater<>()),
       {.memory_bytes = 160_KiB, .block_bytes = 4096});
  std::ranges::sort(items, [](auto const& a, auto const& b) {
    return a.key != b.key ? a.key > b.key : a.other < b.other;
  });
  EXPECT_TRUE(sorted == items);
}

template <typename T, typename Less>
void expect_order_of_wide_integers() {
  storage store(small());
  std::mt19937_64 random(7);
  std::vector<T> items(40'000), sorted, different;
  for (T& item : items)
    item = static_cast<T>(static_cast<detail::wide_unsigned>(random() % 50 - 25) << 64 |
                          random() % 500);
  sort_options const options{.memory_bytes = 160_KiB, .block_bytes = 4096};
  sort(store, items, std::back_inserter(sorted), Less(), options);
  sort_unique(store, items, std::back_inserter(different), Less(), options);
  std::ranges::sort(items, Less());
  EXPECT_TRUE(sorted == items);
  items.erase(std::ranges::unique(items).begin(), items.end());
  EXPECT_TRUE(different == items);
}

TEST(item_order, of_integers_of_128_bits_is_by_value) {
  expect_order_of_wide_integers<detail::wide_unsigned, std::less<>>();
  expect_order_of_wide_integers<detail::wide_signed, std::less<>>();
  expect_order_of_wide_integers<detail::wide_unsigned, std::greater<>>();
  expect_order_of_wide_integers<detail::wide_signed, std::greater<detail::wide_signed>>();
}

static_assert(detail::is_keyed_item<large, decltype(by(&mixed::small))>);
static_assert(!detail::is_keyed_item<large, decltype(by(&mixed::rest))>);
static_assert(!detail::is_keyed_item<mixed, decltype(by(&mixed::small))>);

/// Sorts by a key in all ways, against the standard library.
template <typename T, typename Less, typename Key>
void expect_order_of(T const&, Less const& less, Key const& key) {
  for (std::size_t const count :
       {std::size_t{1}, std::size_t{300},
        (std::size_t{300'000} + scratch::operations(700'000)) / sizeof(T)}) {
    SCOPED_TRACE(count);
    storage store(small());
    std::mt19937_64 random(count);
    std::vector<T> items(count), sorted, different;
    for (std::uint32_t i = 0; i < count; ++i) {
      auto const real = static_cast<float>(static_cast<int>(random() % 300) - 150);
      mixed const item{{},
                       random() % 2 == 0,
                       static_cast<std::int16_t>(random()),
                       random() % 100 == 0 ? -0.0F : real,
                       i};
      static_cast<mixed&>(items[i]) = item;
    }
    sort_options options{.memory_bytes = 160_KiB, .block_bytes = 4096};
    sort(store, items, std::back_inserter(sorted), less, options);
    sort_unique(store, items, std::back_inserter(different), less, options);
    auto const numbers = [](std::vector<T> const& of) {
      std::vector<std::uint32_t> result;
      for (mixed const& m : of) result.push_back(m.other);
      return result;
    };
    std::ranges::stable_sort(items, [&](auto const& a, auto const& b) { return key(a) < key(b); });
    EXPECT_TRUE(numbers(sorted) == numbers(items));
    auto const same = [&](auto const& a, auto const& b) { return key(a) == key(b); };
    items.erase(std::ranges::unique(items, same).begin(), items.end());
    EXPECT_TRUE(numbers(different) == numbers(items));
  }
}

template <typename Less, typename Key>
void expect_order_by(Less const& less, Key const& key) {
  expect_order_of(mixed{}, less, key);
  expect_order_of(large{}, less, key);
}

TEST(item_order, by_an_arithmetic_key_is_that_of_its_values) {
  expect_order_by(by(&mixed::flag), [](mixed const& m) { return m.flag; });
  expect_order_by(by(&mixed::small), [](mixed const& m) { return m.small; });
  expect_order_by(by(&mixed::small, std::greater<>()), [](mixed const& m) { return -m.small; });
  expect_order_by(by(&mixed::real), [](mixed const& m) { return m.real; });
  expect_order_by(by(&mixed::real, std::greater<float>()), [](mixed const& m) { return -m.real; });
  auto const last_digits = [](mixed const& m) { return m.small % 100; };
  expect_order_by(by(last_digits), last_digits);
  expect_order_by(in_input_order(by(last_digits)), last_digits);
}

TEST(item_order, of_input_is_kept_when_asked) {
  storage store(small());
  auto items = random_items<key_second>(60000);
  std::vector<key_second> sorted;
  stable_sort(store, items, std::back_inserter(sorted), by(&key_second::key),
              {.memory_bytes = 160_KiB, .block_bytes = 4096});
  std::ranges::stable_sort(items, {}, &key_second::key);
  EXPECT_TRUE(sorted == items);
}

}  // namespace
}  // namespace outsize
