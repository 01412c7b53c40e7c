// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Each kind of order against std::stable_sort, with so little memory that runs spill.

#include <outsize/algorithm/item_order.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <tuple>
#include <vector>

#include <outsize/algorithm/sort.hpp>
#include <outsize/io/memory_file.hpp>

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

template <typename T, typename Less>
inline constexpr bool has_kernel =
    std::same_as<typename detail::family_of<T, Less>::type,
                 detail::typed_items<detail::word_pair, std::less<>>>;
static_assert(has_kernel<key_first, decltype(by(&key_first::key))>);
static_assert(has_kernel<key_second, decltype(by(&key_second::key))>);
static_assert(!has_kernel<padded, decltype(by(&padded::key))>);
static_assert(!has_kernel<key_first, decltype(in_input_order(by(&key_first::key)))>);

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
  options.memory = 2_MiB;
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
