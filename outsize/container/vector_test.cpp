// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A vector against std::vector, with pages and caches so small that everything leaves all the time;
// its I/Os; its disk space; what is left of it when disks fail.

#include <outsize/container/vector.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <outsize/base/detail/closed_memory.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/decorators/counting_file.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/counted_storage.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/faulty_storage.hpp>

namespace outsize {
namespace {

struct three_bytes {
  std::array<std::uint8_t, 3> bytes;
  friend bool operator==(three_bytes const&, three_bytes const&) = default;
};

template <typename T>
T made_of(std::uint64_t number) {
  if constexpr (std::integral<T>) return static_cast<T>(number);
  T item{};
  std::memcpy(&item, &number, std::min(sizeof item, sizeof number));
  return item;
}

struct vectors : testing::Test {
  std::shared_ptr<io::io_tally> tally = std::make_shared<io::io_tally>();
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>();
  std::uint64_t capacity = 16_MiB;
  std::unique_ptr<storage> store;

  void SetUp() override { make_storage(); }
  void make_storage() {
    auto const open = [this](io::request_queue&) -> io::file_ptr {
      return std::make_unique<io::counting_file>(
          std::make_unique<io::faulty_file>(io::make_memory_file("memory", capacity), plan), tally);
    };
    disk_options disk("memory", open);
    disk.capacity_bytes = capacity;  // so that it says so when it is asked
    store = std::make_unique<storage>(
        storage_options{.disks = {disk}, .memory_bytes = 1_MiB, .threads = 1});
  }

  template <typename T>
  static void expect_equal(vector<T> const& v, std::vector<T> const& model) {
    ASSERT_EQ(v.size(), model.size());
    ASSERT_TRUE(std::equal(v.begin(), v.end(), model.begin()));
  }

  /// Iterators at items, and the items' indices.
  template <typename T>
  using places = std::vector<std::pair<typename vector<T>::iterator, std::uint64_t>>;

  /// Keeps an iterator now and then; leaves those from `end` on, at which there may be no items or
  /// others; and looks through all others.
  template <typename T>
  static void use(places<T>& kept, vector<T>& v, std::vector<T> const& model, std::uint64_t end,
                  std::mt19937_64& random) {
    std::erase_if(kept, [&](auto const& each) { return each.second >= end; });
    if (random() % 16 != 0) return;
    for (auto const& [at, index] : kept) {
      ASSERT_EQ(static_cast<std::uint64_t>(at - v.begin()), index);
      ASSERT_EQ(*typename vector<T>::const_iterator(at), model[index]);
      ASSERT_EQ(*at, model[index]);
    }
    if (kept.size() == 8) kept.erase(kept.begin());
    if (model.empty()) return;
    auto const index = random() % model.size();
    kept.emplace_back(v.begin() + static_cast<std::ptrdiff_t>(index), index);
  }

  /// One random operation on both. Returns behind which index items may have gone or others come.
  template <typename T>
  static std::uint64_t step(vector<T>& v, std::vector<T>& model, std::mt19937_64& random) {
    auto const index = model.empty() ? 0 : random() % model.size();
    T const item = made_of<T>(random());
    auto const action = random() % 100;
    if (action < 30 || model.empty()) {
      v.push_back(item);
      model.push_back(item);
    } else if (action < 45) {
      v[index] = item;
      model[index] = item;
    } else if (action < 70) {
      EXPECT_EQ(std::as_const(v)[index], model[index]);
      EXPECT_EQ(v.at(index), model[index]);
    } else if (action < 80) {
      auto const other = random() % model.size();
      std::swap(v[index], v[other]);
      std::swap(model[index], model[other]);
    } else if (action < 92) {
      v.pop_back();
      model.pop_back();
    } else if (action < 95) {
      auto const room = v.changing(index);
      std::ranges::fill(room, item);
      std::fill_n(model.begin() + static_cast<std::ptrdiff_t>(index), room.size(), item);
    } else if (action < 97) {
      auto const size = random() % 2 == 0 ? index : model.size() + random() % 100;
      auto const old_size = model.size();
      v.resize(size);
      model.resize(size);
      for (auto i = old_size; i < size; ++i) v[i] = model[i];
    } else if (action < 98) {
      v.push_back(std::as_const(v).front());
      model.push_back(model.front());
      v.push_back(v[index]);
      model.push_back(model[index]);
    } else if (action < 99) {
      v.flush();
    } else {
      auto const end = index + random() % (model.size() - index + 1);
      auto const at = [](auto& c, std::uint64_t i) {
        return c.begin() + static_cast<std::ptrdiff_t>(i);
      };
      v.erase(at(v, index), at(v, end));
      model.erase(at(model, index), at(model, end));
      return index;
    }
    return model.size();
  }

  template <typename T>
  void run_model(page_options const& options, std::uint64_t seed, int steps) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", items of " << sizeof(T));
    std::mt19937_64 random(seed);
    vector<T> v(*store, options);
    std::vector<T> model;
    places<T> kept;
    for (int i = 0; i < steps; ++i) {
      auto const same = step(v, model, random);
      use(kept, v, model, same, random);
      if (HasFailure()) return;
    }
    expect_equal(v, model);
  }
};

TEST_F(vectors, behave_as_standard_ones_under_every_policy) {
  auto const seed = std::random_device{}();
  for (std::size_t cache : {4U, 5U, 20U})
    for (bool at_random : {false, true})
      for (std::size_t ahead : {0U, 2U}) {
        page_options options{.page_bytes = 48,
                             .cache_pages = cache,
                             .spare_pages = cache % 3,
                             .read_ahead_pages = ahead};
        if (at_random)
          options.replacement = [seed] { return block::make_random_replacement(seed); };
        run_model<std::uint64_t>(options, seed + cache, scratch::operations(30'000));
        run_model<three_bytes>(options, seed + cache, scratch::operations(30'000));
        run_model<char>(options, seed + cache, scratch::operations(15'000));
      }
}

TEST_F(vectors, take_many_items_at_once_as_standard_ones_do) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  vector<std::uint64_t> v(*store, {.page_bytes = 48, .cache_pages = 5, .spare_pages = 2});
  std::vector<std::uint64_t> model;
  for (int i = 0; i < scratch::operations(20'000); ++i) {
    auto const index = static_cast<std::ptrdiff_t>(random() % (model.size() + 1));
    auto const item = random() % 3;
    std::vector<std::uint64_t> const items(random() % 30, random());
    auto const action = random() % 100;
    if (action < 30) {
      auto const at = v.insert(v.cbegin() + index, items.begin(), items.end());
      ASSERT_EQ(at - v.begin(), index);
      model.insert(model.begin() + index, items.begin(), items.end());
    } else if (action < 45) {
      ASSERT_EQ(*v.insert(v.cbegin() + index, item), item);
      model.insert(model.begin() + index, item);
      v.insert(v.cend(), {item, 7});
      model.insert(model.end(), {item, 7});
    } else if (action < 80) {
      auto const size = model.size() * 3 / 4 + random() % 20;
      v.resize(size, item);
      model.resize(size, item);
    } else if (action < 90 && !model.empty()) {
      v.erase(v.cend() - 1);
      model.erase(model.end() - 1);
    } else if (action < 93) {
      v.assign(items.begin(), items.end());
      model.assign(items.begin(), items.end());
    } else if (action < 95) {
      v.assign(60, item);
      model.assign(60, item);
    } else if (action < 97) {
      v.assign({item, 2, 3});
      model = {item, 2, 3};
    } else {
      vector<std::uint64_t> other(*store, {.page_bytes = 64, .cache_pages = 4});
      other.assign(model.begin(), model.end());
      ASSERT_TRUE(v == other);
      other.push_back(1);
      ASSERT_TRUE(v != other);
      other.resize(model.size());
      if (!model.empty()) other.front() += 1;
      ASSERT_EQ(v == other, model.empty());
    }
    ASSERT_EQ(v.size(), model.size());
  }
  expect_equal(v, model);
}

TEST_F(vectors, are_made_with_content_as_standard_ones) {
  std::vector<std::uint64_t> const model = {5, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9};
  page_options const options{.page_bytes = 64, .cache_pages = 4};
  using numbers = vector<std::uint64_t>;
  numbers const by_iterators(*store, model.begin(), model.end(), options);
  numbers const by_range(*store, model, options);
  numbers const by_conversion(*store, std::vector<int>(model.begin(), model.end()), options);
  numbers const by_list(*store, {5, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9}, options);
  numbers const by_copy(*store, by_list, options);
  for (auto const* each : {&by_iterators, &by_range, &by_conversion, &by_list, &by_copy}) {
    expect_equal(*each, model);
    EXPECT_EQ(each->page_items(), 8U);
  }
  expect_equal(numbers(*store, 20, 7, options), std::vector<std::uint64_t>(20, 7));
  expect_equal(numbers(*store, 20), std::vector<std::uint64_t>(20));
  EXPECT_TRUE(numbers(*store, {}).empty());
  EXPECT_TRUE(numbers(*store, {.page_bytes = 64}).empty());
  static_assert(std::constructible_from<numbers, std::initializer_list<std::uint64_t>>);
  static_assert(std::constructible_from<numbers, int*, int*>);
  static_assert(std::constructible_from<numbers, int> &&
                std::constructible_from<numbers, int, int>);
  static_assert(!std::convertible_to<int, numbers>);
  static_assert(!std::constructible_from<numbers, storage&, std::vector<std::string>>);
}

TEST_F(vectors, stay_where_they_are_when_a_list_is_assigned) {
  vector<std::uint64_t> v(*store, {.page_bytes = 64, .cache_pages = 4});
  v = {1, 2, 3};
  expect_equal(v, {1, 2, 3});
  EXPECT_EQ(&v.store(), store.get());
  EXPECT_EQ(v.page_items(), 8U);
  v = {};
  EXPECT_TRUE(v.empty());
  EXPECT_EQ(&v.store(), store.get());
}

TEST_F(vectors, have_constant_iterators_that_see_what_has_come_since) {
  vector<std::uint64_t> v(*store, {.page_bytes = 64, .cache_pages = 4});
  constexpr std::ptrdiff_t last = 99;
  v.resize(last + 1, 1);
  auto it = v.cbegin() + last;
  EXPECT_EQ(*it, 1U);
  it -= last;  // at an item that stays
  v.resize(1);
  v.resize(last + 1, 2);
  EXPECT_EQ(*it, 1U);
  it += last;
  EXPECT_EQ(*it, 2U);
  auto back = v.crbegin();
  EXPECT_EQ(*back, 2U);
  back += last;
  v.resize(1);
  v.resize(last + 1, 3);
  back -= last;
  EXPECT_EQ(*back, 3U);
}

TEST_F(vectors, compare_as_standard_ones) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200; ++i) {
    std::vector<std::uint64_t> a(random() % 100), b;
    for (auto& item : a) item = random() % 3;
    b = a;
    if (random() % 4 > 0) b.resize(random() % 100);
    if (!b.empty() && random() % 2 == 0) b[random() % b.size()] = random() % 3;
    vector<std::uint64_t> const x(*store, a, {.page_bytes = 64, .cache_pages = 4});
    vector<std::uint64_t> const y(*store, b, {.page_bytes = 48, .cache_pages = 5});
    ASSERT_EQ(x == y, a == b);
    ASSERT_EQ(x <=> y, a <=> b);
    ASSERT_EQ(x < y, a < b);
  }
  vector<double> const x(*store, {1.0, 2.0}), y(*store, {1.0, std::nan("")});
  EXPECT_EQ(x <=> y, std::partial_ordering::unordered);
}

TEST_F(vectors, keep_the_space_that_is_reserved) {
  vector<std::uint64_t> v(*store, {.page_bytes = 64, .cache_pages = 4});
  v.reserve(100);
  EXPECT_EQ(v.capacity(), 104U);
  EXPECT_EQ(v.size(), 0U);
  EXPECT_EQ(store->allocated_bytes(), 13 * 64U);
  for (std::uint64_t i = 0; i < 100; ++i) v.push_back(i);
  while (v.size() > 20) v.pop_back();
  v.reserve(10);
  v.resize(40);
  v.resize(20);
  EXPECT_EQ(v.capacity(), 104U);
  EXPECT_EQ(store->allocated_bytes(), 13 * 64U);
  for (std::uint64_t i = 20; i < 300; ++i) v.push_back(i);
  while (v.size() > 20) v.pop_back();
  EXPECT_LE(v.capacity(), 104U + 8);
  v.shrink_to_fit();
  EXPECT_EQ(v.capacity(), 24U);
  EXPECT_EQ(store->allocated_bytes(), 3 * 64U);
  for (std::uint64_t i = 0; i < 20; ++i) ASSERT_EQ(std::as_const(v)[i], i);
  v.clear();
  EXPECT_EQ(store->allocated_bytes(), 0U);
  EXPECT_THROW(v.reserve(v.max_size() + 1), std::length_error);
}

TEST_F(vectors, reserve_all_that_they_are_asked_for_or_nothing) {
  capacity = 64 * 20;
  make_storage();
  vector<std::uint64_t> v(*store, {.page_bytes = 64, .cache_pages = 4, .spare_pages = 1});
  EXPECT_THROW(v.reserve(1000), out_of_space);
  EXPECT_EQ(store->allocated_bytes(), 0U);
  v.reserve(160);
  vector<std::uint64_t> other(*store, {.page_bytes = 64, .cache_pages = 4});
  EXPECT_THROW(other.push_back(1), out_of_space);
  for (std::uint64_t i = 0; i < 160; ++i) v.push_back(i);
  EXPECT_THROW(v.push_back(0), out_of_space);
  EXPECT_EQ(v.size(), 160U);
}

TEST_F(vectors, make_items_of_arguments) {
  struct point {
    int x, y;
    bool operator==(point const&) const = default;
  };
  vector<point> v(*store, {.page_bytes = 64, .cache_pages = 4});
  EXPECT_EQ(v.emplace_back(1, 2), (point{1, 2}));
  EXPECT_EQ(*v.emplace(v.cbegin(), 3, 4), (point{3, 4}));
  EXPECT_EQ(v.insert(v.cbegin() + 1, 20, {5, 6}) - v.begin(), 1);
  EXPECT_EQ(v.size(), 22U);
  EXPECT_EQ(v[20], (point{5, 6}));
  EXPECT_EQ(v.back(), (point{1, 2}));
}

TEST_F(vectors, notice_nothing_of_accesses_that_are_short_or_late) {
  auto const seed = std::random_device{}();
  plan = std::make_shared<io::fault_plan>(scratch::late(seed));
  make_storage();
  run_model<std::uint64_t>({.page_bytes = 48, .cache_pages = 4, .spare_pages = 2}, seed,
                           scratch::operations(200'000));
  EXPECT_GT(plan->injected(), scratch::operations(1000U));
}

TEST_F(vectors, lose_nothing_when_accesses_fail) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  plan = std::make_shared<io::fault_plan>(io::fault_odds{.seed = seed, .fail = 0.05});
  make_storage();
  vector<std::uint64_t> v(*store, {.page_bytes = 48, .cache_pages = 4, .spare_pages = 1});
  std::vector<std::uint64_t> model;
  int failed = 0;
  // Again until it has been done: an access that throws has done nothing.
  auto const persist = [&](auto const& action) {
    for (;;) try {
        return action();
      } catch (io_error const&) {
        ++failed;
      }
  };
  for (int i = 0; i < scratch::operations(200'000); ++i) {
    auto const index = model.empty() ? 0 : random() % model.size();
    auto const other = model.empty() ? 0 : random() % model.size();
    auto const item = random();
    auto const action = random() % 100;
    if (action < 30 || model.empty()) {
      persist([&] { v.push_back(item); });
      model.push_back(item);
    } else if (action < 50) {
      persist([&] { v[index] = item; });
      model[index] = item;
    } else if (action < 60) {
      persist([&] { std::swap(v[index], v[other]); });
      std::swap(model[index], model[other]);
    } else if (action < 75) {
      persist([&] { ASSERT_EQ(std::as_const(v)[index], model[index]); });
    } else if (action < 85) {
      persist([&] { ASSERT_EQ(v.back(), model.back()); });
    } else if (action < 97) {
      persist([&] { v.pop_back(); });
      model.pop_back();
    } else if (action < 98) {
      auto const old_size = model.size();
      auto const size = random() % 4 == 0 ? index : old_size + random() % 100;
      persist([&] { v.resize(size); });
      model.resize(size, item);
      for (auto k = old_size; k < size; ++k) persist([&] { v[k] = item; });
    } else if (action < 99) {
      persist([&] {
        auto const room = v.changing(index);
        std::ranges::fill(room, item);
        std::fill_n(model.begin() + static_cast<std::ptrdiff_t>(index), room.size(), item);
      });
    } else {
      persist([&] { v.flush(); });
    }
    ASSERT_EQ(v.size(), model.size());
    if (HasFatalFailure()) return;
  }
  persist([&] { v.flush(); });
  for (std::uint64_t i = 0; i < model.size(); ++i)
    persist([&] { ASSERT_EQ(std::as_const(v)[i], model[i]); });
  EXPECT_GT(failed, 100);
}

TEST_F(vectors, cost_a_read_and_a_write_for_each_page_that_is_changed_in_a_scan) {
  vector<std::uint64_t> v(*store, {.page_bytes = 64, .cache_pages = 8, .read_ahead_pages = 2});
  for (std::uint64_t i = 0; i < 800; ++i) v.push_back(i);  // 100 pages
  v.flush();
  EXPECT_EQ(tally->reads().requests, 0U);
  EXPECT_EQ(v.cache_counts().write_backs, 100U);
  std::uint64_t sum = 0;
  for (auto const item : std::as_const(v)) sum += item;
  EXPECT_EQ(sum, 800U * 799 / 2);
  EXPECT_LE(tally->reads().requests, 100U);
  EXPECT_GE(tally->reads().requests, 92U);
  EXPECT_EQ(v.cache_counts().write_backs, 100U);
  auto const reads = tally->reads().requests;
  for (auto& item : v) ++item;
  v.flush();
  EXPECT_LE(tally->reads().requests - reads, 100U);
  EXPECT_LE(v.cache_counts().write_backs, 208U);  // those that are live were written twice
}

TEST_F(vectors, give_back_disk_space_and_memory) {
  auto const free_bytes = store->memory().free_bytes();
  {
    vector<std::uint64_t> v(*store, {.page_bytes = 64});
    v.assign(8000, 1);
    EXPECT_EQ(store->allocated_bytes(), 64'000U);
    v.resize(80);
    EXPECT_EQ(store->allocated_bytes(), 640U);
    v.pop_back();
    EXPECT_EQ(store->allocated_bytes(), 640U);
    for (int i = 0; i < 20; ++i) v.pop_back();
    EXPECT_LE(store->allocated_bytes(), 640U - 64);
    v.clear();
    EXPECT_EQ(store->allocated_bytes(), 0U);
    v.push_back(1);
    vector<std::uint64_t> other(std::move(v));
    EXPECT_EQ(other.front(), 1U);
    EXPECT_EQ(store->allocated_bytes(), 64U);
    other = vector<std::uint64_t>(*store, {.page_bytes = 64});
    EXPECT_EQ(store->allocated_bytes(), 0U);
  }
  EXPECT_EQ(store->memory().free_bytes(), free_bytes);
}

TEST_F(vectors, outlive_their_iterators_pages) {
  vector<std::uint64_t>::const_iterator it;
  {
    vector<std::uint64_t> v(*store, {.page_bytes = 64});
    v.push_back(1);
    it = v.cbegin();
    EXPECT_EQ(*it, 1U);
  }
  EXPECT_EQ(store->allocated_bytes(), 0U);
}

TEST_F(vectors, stay_as_they_are_when_the_disk_is_full) {
  capacity = 64 * 20;
  make_storage();
  vector<std::uint64_t> v(*store, {.page_bytes = 64, .cache_pages = 4, .spare_pages = 1});
  std::uint64_t pushed = 0;
  EXPECT_THROW(
      for (;;) {
        v.push_back(pushed);
        ++pushed;
      },
      out_of_space);
  EXPECT_EQ(pushed, 160U);
  EXPECT_EQ(v.size(), 160U);
  EXPECT_THROW(v.resize(1000), out_of_space);
  EXPECT_EQ(v.size(), 160U);
  for (std::uint64_t i = 0; i < 160; ++i) ASSERT_EQ(std::as_const(v)[i], i);
  v.pop_back();
  v.push_back(7);
  EXPECT_EQ(v.back(), 7U);
}

TEST_F(vectors, refuse_what_they_cannot_do) {
  vector<std::uint64_t> v(*store, {.page_bytes = 64});
  v.resize(10);
  EXPECT_THROW(v.at(10), std::out_of_range);
  try {
    std::ignore = std::as_const(v).at(12);
    FAIL() << "found";
  } catch (std::out_of_range const& e) {
    EXPECT_STREQ(e.what(), "vector: index 12 of 10 items");
  }
  try {
    vector<std::uint64_t> const larger(*store, {.page_bytes = 1_MiB});
    FAIL() << "made";
  } catch (budget_error const& e) {
    EXPECT_EQ(e.asker(), "vector");
  }
}

TEST_F(vectors, are_as_large_as_the_storage_suggests) {
  vector<std::uint64_t> const v(*store);
  EXPECT_EQ(v.page_items(), 8_KiB / sizeof(std::uint64_t));
  EXPECT_GE(v.live_pages(), 2U);
  EXPECT_TRUE(v.empty());
}

using vector_death_test = vectors;

TEST_F(vector_death_test, notices_changes_through_references_that_have_ended) {
  if (!detail::heavy_assertions) GTEST_SKIP() << "checked in debug builds only";
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the storage has threads
  vector<std::uint64_t> v(*store, {.page_bytes = 64, .cache_pages = 6});
  v.resize(80);
  auto const misuse = [&] {
    auto& old = v[0];
    for (std::uint64_t i = 8; i <= 8 * v.live_pages(); i += 8) v[i] = i;
    old = 5;  // its page is still in the cache, but no longer live
    v[0] = 0;
  };
  EXPECT_DEATH(misuse(), "is_as_sealed|use-after-poison");
  auto const misuse_and_read = [&] {
    auto& old = v[0];
    for (std::uint64_t i = 8; i <= 8 * v.live_pages(); i += 8) v[i] = i;
    old = 5;
    std::ignore = std::as_const(v)[1];
  };
  EXPECT_DEATH(misuse_and_read(), "is_as_sealed|use-after-poison");
}

TEST_F(vector_death_test, notices_reads_through_references_that_have_ended) {
  if (!detail::notices_closed_memory()) GTEST_SKIP() << "noticed under AddressSanitizer only";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  vector<std::uint64_t> v(*store, {.page_bytes = 64, .cache_pages = 6});
  v.resize(80);
  auto const misuse = [&] {
    std::uint64_t volatile const& old = v[0];
    for (std::uint64_t i = 8; i <= 8 * v.live_pages(); i += 8) v[i] = i;
    return std::uint64_t{old};
  };
  EXPECT_DEATH(misuse(), "use-after-poison");
}

TEST_F(vector_death_test, notices_items_that_are_not_there) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  vector<std::uint64_t> v(*store, {.page_bytes = 64, .cache_pages = 6});
  EXPECT_DEATH(v.front(), "empty");
  EXPECT_DEATH(v.back(), "empty");
  EXPECT_DEATH(v.pop_back(), "empty");
  v.resize(12);
  EXPECT_DEATH(v[12] = 1, "index < size");
  EXPECT_DEATH(std::ignore = std::as_const(v)[12], "index < size");
  EXPECT_DEATH(v.changing(12), "index < size");
  EXPECT_DEATH(v.replacing(9), "index");
  EXPECT_DEATH(*(v.begin() + 20) = 1, "position");
}

TEST(vector_types, are_deduced_from_content) {
  scratch::counted_storage disk;
  std::vector<short> const some{3, 1, 2};
  vector const of_range(disk.store, some);
  vector const of_iterators(disk.store, some.begin(), some.end(), {.page_bytes = 64});
  vector const of_list(disk.store, {short{3}, short{1}, short{2}});
  static_assert(std::same_as<decltype(of_range), vector<short> const>);
  EXPECT_TRUE(of_range == of_iterators && of_range == of_list);
  vector<int> const zeros(disk.store, 100, {.page_bytes = 64});
  EXPECT_EQ(zeros.size(), 100U);
  EXPECT_EQ(zeros[99], 0);
}

}  // namespace
}  // namespace outsize
