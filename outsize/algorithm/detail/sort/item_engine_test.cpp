// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Each kind of items goes through its engine as the standard library would sort it.

#include <outsize/algorithm/detail/sort/item_engine.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::detail {
namespace {

struct pair {
  std::uint64_t other;
  std::int64_t key;
};
struct small {
  std::uint32_t key, place;
  float rest;
};
struct large {
  std::uint32_t key, place;
  std::array<std::uint64_t, 20> rest;
};

storage_options in_memory() {
  storage_options options{.memory_bytes = 8_MiB, .threads = 2};
  options.disks.emplace_back("memory",
                             [](io::request_queue&) { return io::make_memory_file("memory"); });
  return options;
}

template <typename T>
std::vector<T> random_items(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<T> items(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    if constexpr (std::unsigned_integral<T>)
      items[i] = static_cast<T>(random());
    else if constexpr (std::same_as<T, pair>)
      items[i] = {i, static_cast<std::int64_t>(random() % 1000) - 500};
    else
      items[i] = {static_cast<std::uint32_t>(random() % 1000), i, {}};
  }
  return items;
}

template <typename T>
std::vector<T> all_of(item_engine& engine) {
  std::vector<T> out;
  while (auto const window = engine.next()) {
    EXPECT_EQ(window->bytes, window->items * sizeof(T));
    out.resize(out.size() + window->items);
    std::memcpy(static_cast<void*>(&out[out.size() - window->items]), window->data().data(),
                window->bytes);
    engine.recycle(*window);
  }
  return out;
}

template <typename T>
bool have_equal_bytes(std::vector<T> const& a, std::vector<T> const& b) {
  return std::ranges::equal(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
}

template <typename T, typename Less>
void expect_sorted(Less const& less) {
  storage store(in_memory());
  auto items = random_items<T>(1_MiB / sizeof(T));
  auto const kind = kind_of<T, Less>::make(less);
  auto const engine = make_item_engine(
      store, kind, {.memory_bytes = 512_KiB, .block_bytes = 4096, .rewindable = true});
  EXPECT_EQ(engine->item_bytes(), sizeof(T));
  for (T const& item : items) {
    if (engine->room().empty()) engine->chunk_full();
    std::memcpy(engine->room().data(), &item, sizeof item);
    engine->grow(1);
  }
  engine->finish_input();
  std::ranges::stable_sort(items, less);
  EXPECT_TRUE(have_equal_bytes(all_of<T>(*engine), items));
  EXPECT_GT(engine->report().runs, 1U);
  EXPECT_EQ(engine->report().items, items.size());
  EXPECT_EQ(engine->progress().done_bytes, engine->progress().total_bytes);
  engine->rewind();
  EXPECT_TRUE(have_equal_bytes(all_of<T>(*engine), items));
}

/// Between its two halves an engine whose memory is not named gives nearly all of it to others.
void expect_rest(std::size_t count) {
  storage store(in_memory());
  auto items = random_items<std::uint64_t>(count);
  auto const kind = kind_of<std::uint64_t, std::less<>>::make({});
  auto const engine = make_item_engine(store, kind, {.rewindable = false});
  for (std::uint64_t const item : items) {
    if (engine->room().empty()) engine->chunk_full();
    std::memcpy(engine->room().data(), &item, sizeof item);
    engine->grow(1);
  }
  engine->end_input();
  { grant const others = store.memory().take(7_MiB, "others"); }
  engine->begin_output();
  std::ranges::sort(items);
  EXPECT_TRUE(have_equal_bytes(all_of<std::uint64_t>(*engine), items)) << count;
}

TEST(item_engine, rests_between_its_halves) {
  for (std::size_t const count : {0, 1, 100'000, 700'000, 3'000'000}) expect_rest(count);
}

TEST(item_engine, sorts_numbers) {
  expect_sorted<std::uint32_t>(std::less<>());
  expect_sorted<std::uint64_t>(std::greater<>());
  expect_sorted<pair>(by(&pair::key));
}
TEST(item_engine, sorts_items_by_a_kernel) {
  expect_sorted<small>(by(&small::key));
  expect_sorted<small>([](small const& a, small const& b) { return a.key > b.key; });
  expect_sorted<large>([](large const& a, large const& b) { return a.key < b.key; });
}
TEST(item_engine, sorts_large_items_by_their_words) { expect_sorted<large>(by(&large::key)); }

template <typename T, typename Less>
item_kind kind(Less const& less) {
  return kind_of<T, Less>::make(less);
}

TEST(item_kind, tells_numbers_which_are_sorted_where_they_lie) {
  EXPECT_FALSE(kind<small>(by(&small::key)).are_numbers());
  EXPECT_FALSE(kind<large>(by(&large::key)).are_numbers());
  EXPECT_EQ(kind<float>(std::less<>()).number_bytes(), 4U);
  EXPECT_EQ(kind<std::int64_t>(std::greater<>()).number_bytes(), 8U);
  EXPECT_EQ(kind<pair>(by(&pair::key)).number_bytes(), 16U);
  executor threads(2);
  auto items = random_items<pair>(50'000);
  kind<pair>(by(&pair::key)).sort_in_place(std::as_writable_bytes(std::span(items)), threads);
  EXPECT_TRUE(std::ranges::is_sorted(items, {}, &pair::key));
}

}  // namespace
}  // namespace outsize::detail
