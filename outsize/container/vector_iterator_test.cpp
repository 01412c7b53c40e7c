// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The iterators of a vector are random access iterators to the standard library's algorithms, and
// links between items.

#include <outsize/container/vector.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <random>
#include <ranges>
#include <thread>
#include <type_traits>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize {
namespace {

using numbers = vector<std::uint64_t>;

static_assert(std::random_access_iterator<numbers::iterator>);
static_assert(std::random_access_iterator<numbers::const_iterator>);
static_assert(std::sortable<numbers::iterator>);
static_assert(std::ranges::random_access_range<numbers>);
static_assert(std::ranges::random_access_range<numbers const>);
static_assert(std::ranges::sized_range<numbers>);
static_assert(std::ranges::common_range<numbers>);
static_assert(std::is_convertible_v<numbers::iterator, numbers::const_iterator>);
static_assert(!std::is_convertible_v<numbers::const_iterator, numbers::iterator>);
static_assert(std::random_access_iterator<numbers::const_reverse_iterator>);
static_assert(std::is_convertible_v<numbers::reverse_iterator, numbers::const_reverse_iterator>);
static_assert(external_item<numbers::iterator>);  // a link
static_assert(std::same_as<std::iter_reference_t<numbers::iterator>, std::uint64_t&>);
static_assert(std::same_as<std::iter_reference_t<numbers::const_iterator>, std::uint64_t>);

struct vectors_in_memory : testing::Test {
  storage store{
      {.disks = {disk_options(
           "memory", [](io::request_queue&) { return io::make_memory_file("memory", 1_GiB); })},
       .memory_bytes = 1_MiB,
       .threads = 1}};
  page_options const tiny{.page_bytes = 64, .cache_pages = 4, .spare_pages = 1};

  numbers filled(std::size_t count, std::uint64_t seed, std::uint64_t distinct = ~0ULL) {
    numbers v(store, tiny);
    std::mt19937_64 random(seed);
    for (std::size_t i = 0; i < count; ++i) v.push_back(random() % distinct);
    return v;
  }
  static std::vector<std::uint64_t> copy(numbers const& v) { return {v.begin(), v.end()}; }
};

TEST_F(vectors_in_memory, are_changed_by_algorithms_as_a_standard_vector_is) {
  auto external = filled(1000, 3, 200);
  auto internal = copy(external);
  auto const both = [&](auto const& algorithm) {
    algorithm(external);
    algorithm(internal);
    ASSERT_EQ(copy(external), internal);
  };
  both([](auto& v) { std::reverse(v.begin(), v.end()); });
  both([](auto& v) { std::rotate(v.begin(), v.begin() + 333, v.end()); });
  both([](auto& v) { std::nth_element(v.begin(), v.begin() + 500, v.end()); });
  both([](auto& v) { std::partial_sort(v.begin(), v.begin() + 100, v.end()); });
  both([](auto& v) { std::stable_sort(v.begin(), v.end(), std::greater<>()); });
  both([](auto& v) { std::make_heap(v.begin(), v.end()); });
  both([](auto& v) { std::sort_heap(v.begin(), v.end()); });
  both([](auto& v) { std::next_permutation(v.begin(), v.end()); });
  both([](auto& v) { std::shuffle(v.begin(), v.end(), std::mt19937_64(7)); });
  both([](auto& v) { std::sort(v.begin(), v.end()); });
  both([](auto& v) { std::inplace_merge(v.begin(), v.begin() + 400, v.end()); });
  both([](auto& v) { std::ranges::sort(v, std::ranges::greater()); });
  both([](auto& v) { std::ranges::transform(v, v.begin(), [](auto x) { return x / 3; }); });
  both([](auto& v) { v.erase(std::unique(v.begin(), v.end()), v.end()); });
  both([](auto& v) { std::adjacent_difference(v.begin(), v.end(), v.begin()); });
  both([](auto& v) { std::partial_sum(v.begin(), v.end(), v.begin()); });
  both([](auto& v) { std::sort(v.rbegin(), v.rend()); });
  both([](auto& v) { v.erase(v.begin() + 5, v.begin() + 20); });
  both([](auto& v) { std::partition(v.begin(), v.end(), [](auto x) { return x % 2 == 0; }); });
  both([](auto& v) { std::iota(v.begin(), v.end(), std::uint64_t{5}); });
}

TEST_F(vectors_in_memory, are_read_by_algorithms_without_being_changed) {
  auto external = filled(1000, 4, 50);
  std::sort(external.begin(), external.end());
  external.flush();
  auto const internal = copy(external);
  auto const before = external.cache_counts().write_backs;
  numbers const& v = external;
  EXPECT_TRUE(std::is_sorted(v.begin(), v.end()));
  EXPECT_TRUE(std::ranges::equal(v, internal));
  EXPECT_TRUE(std::equal(v.rbegin(), v.rend(), internal.rbegin()));
  EXPECT_EQ(std::accumulate(v.begin(), v.end(), std::uint64_t{0}),
            std::accumulate(internal.begin(), internal.end(), std::uint64_t{0}));
  for (std::uint64_t wanted = 0; wanted < 52; ++wanted) {
    EXPECT_EQ(std::lower_bound(v.begin(), v.end(), wanted) - v.begin(),
              std::ranges::lower_bound(internal, wanted) - internal.begin());
    EXPECT_EQ(std::ranges::count(v, wanted), std::ranges::count(internal, wanted));
    EXPECT_EQ(std::ranges::binary_search(v, wanted), std::ranges::binary_search(internal, wanted));
  }
  std::vector<std::uint64_t> taken;
  for (auto it = v.begin(); it != v.end();) taken.push_back(*it++);
  EXPECT_EQ(taken, internal);
  EXPECT_EQ(external.cache_counts().write_backs, before);
}

TEST_F(vectors_in_memory, are_read_backward_as_forward) {
  auto external = filled(1000, 8, 50);
  auto const internal = copy(external);
  numbers const& v = external;
  auto const lookups = [&] { return v.cache_counts().hits + v.cache_counts().misses; };
  auto const before = lookups();
  std::vector<std::uint64_t> taken;
  for (auto it = v.rbegin(); it != v.rend(); ++it) taken.push_back(*it);
  EXPECT_TRUE(std::equal(taken.begin(), taken.end(), internal.rbegin(), internal.rend()));
  EXPECT_LE(lookups() - before, 2U * 125);  // for each page, not for each item
  auto const first = v.crbegin(), last = v.crend();
  EXPECT_EQ(last - first, 1000);
  EXPECT_TRUE(first < last && first + 1000 == last && last - 1000 == first);
  for (std::ptrdiff_t const i : {0, 1, 8, 500, 999}) {
    EXPECT_EQ(first[i], internal.rbegin()[i]);
    EXPECT_EQ(*(last - (i + 1)), internal[static_cast<std::size_t>(i)]);
    EXPECT_EQ((first + i).base() - v.begin(), 1000 - i);
    EXPECT_TRUE(external.rbegin() + i == first + i);
  }
  EXPECT_EQ(std::find(first, last, 7U).base() - v.begin(),
            std::find(internal.rbegin(), internal.rend(), 7U).base() - internal.begin());
  std::ranges::sort(external);
  EXPECT_EQ(std::lower_bound(v.rbegin(), v.rend(), 20U, std::greater<>()) - v.rbegin(),
            std::ranges::count_if(internal, [](auto x) { return x > 20; }));
}

TEST_F(vectors_in_memory, show_what_is_changed_to_iterators_that_are_there) {
  auto v = filled(100, 5);
  auto const it = v.cbegin() + 50;
  std::ignore = *it;
  for (std::uint64_t i = 0; i < 10; ++i) {
    v[50] = i;
    EXPECT_EQ(*it, i);
    v[90] = i;  // other pages
    v[10] = i;
  }
}

TEST_F(vectors_in_memory, take_their_iterators_along_when_they_are_moved_or_swapped) {
  auto a = filled(100, 6), b = filled(10, 7);
  auto const in_a = a.begin() + 30;
  auto const in_b = b.cbegin() + 3;
  auto const item_a = *in_a, item_b = *in_b;
  swap(a, b);
  numbers c(std::move(b));
  EXPECT_EQ(*in_a, item_a);
  EXPECT_EQ(*in_b, item_b);
  *in_a = 1;
  EXPECT_EQ(c[30], 1U);
  EXPECT_EQ(c.begin() + 30, in_a);
  EXPECT_EQ(in_b - a.cbegin(), 3);
}

TEST_F(vectors_in_memory, hold_links_to_their_own_items) {
  struct node {
    std::uint64_t value;
    vector<node>::iterator next;
  };
  vector<node> list(store, tiny);
  std::vector<std::uint64_t> order(500);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, std::mt19937_64(8));
  list.resize(500);
  for (std::size_t i = 0; i < 500; ++i)
    list[order[i]] = {
        i, i + 1 < 500 ? list.begin() + static_cast<std::ptrdiff_t>(order[i + 1]) : list.end()};
  auto at = list.begin() + static_cast<std::ptrdiff_t>(order[0]);
  for (std::uint64_t i = 0; i < 500; ++i) {
    ASSERT_EQ(at->value, i);
    at = at->next;
  }
  EXPECT_EQ(at, list.end());
}

TEST_F(vectors_in_memory, are_read_by_several_threads_at_once) {
  auto const v = filled(2000, 9);
  auto const expected = copy(v);
  std::vector<std::jthread> readers;
  for (unsigned seed = 0; seed < 4; ++seed)
    readers.emplace_back([&, seed] {
      std::mt19937_64 random(seed);
      for (int round = 0; round < 5; ++round) {
        EXPECT_TRUE(std::equal(v.begin(), v.end(), expected.begin()));
        for (int i = 0; i < 500; ++i) {
          auto const index = random() % v.size();
          ASSERT_EQ(v[index], expected[index]);
        }
      }
    });
}

}  // namespace
}  // namespace outsize
