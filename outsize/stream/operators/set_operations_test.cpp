// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Set operations on sorted flows yield the items of the algorithms of the standard library.
#include <outsize/stream/operators/set_operations.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/parallel.hpp>
#include <outsize/stream/operators/sorting_nodes.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/operators/zip.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>

namespace outsize::stream {
namespace {

using words = std::vector<std::uint64_t>;

struct sets : testing::Test {
  storage store{{.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 64_MiB);
                                        })},
                 .memory_bytes = 4_MiB,
                 .threads = 2}};

  static words sorted(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    words all(count);
    for (auto& one : all) one = random() % (count / 3 + 2);
    std::ranges::sort(all);
    return all;
  }
  /// The items of a flow, which are the same by push and by pull.
  template <typename T, typename Make>
  std::vector<T> items_of(Make make) {
    auto const copy = [](auto const& item) { return T(item); };
    std::vector<T> pushed, pulled;
    run(store, make() | transform(copy) | into(std::back_inserter(pushed)));
    run(store, zip(make(), counter(std::uint64_t{0}, UINT64_MAX)) |
                   transform([&](auto const& item, std::uint64_t) { return T(item); }) |
                   into(std::back_inserter(pulled)));
    EXPECT_EQ(pushed, pulled);
    return pushed;
  }
};

TEST_F(sets, are_those_of_the_standard_library) {
  for (auto const& [n, m] : std::vector<std::pair<std::size_t, std::size_t>>{
           {0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 5000}, {5000, 0}, {3, 5000}, {70'000, 40'000}}) {
    SCOPED_TRACE(testing::Message() << n << ' ' << m);
    words const a = sorted(n, 1), b = sorted(m, 2);
    words either, both, first, one;
    std::ranges::set_union(a, b, std::back_inserter(either));
    std::ranges::set_intersection(a, b, std::back_inserter(both));
    std::ranges::set_difference(a, b, std::back_inserter(first));
    std::ranges::set_symmetric_difference(a, b, std::back_inserter(one));
    using item = std::uint64_t;
    EXPECT_EQ((items_of<item>([&] { return set_union(from(a), from(b)); })), either);
    EXPECT_EQ((items_of<item>([&] { return set_intersection(from(a), from(b)); })), both);
    EXPECT_EQ((items_of<item>([&] { return set_difference(from(a), from(b)); })), first);
    EXPECT_EQ((items_of<item>([&] { return set_symmetric_difference(from(a), from(b)); })), one);
  }
}

TEST_F(sets, take_an_order_and_show_the_first_of_a_pair) {
  struct tagged {
    std::uint32_t key, tag;
    bool operator==(tagged const&) const = default;
  };
  std::vector<tagged> a, b, expected;
  for (std::uint32_t i = 0; i < 3000; ++i) a.push_back({3000 - i / 2, i});
  for (std::uint32_t i = 0; i < 2000; ++i) b.push_back({2500 - i / 3, 10'000 + i});
  auto const order = by(&tagged::key, std::greater<>());
  std::ranges::set_union(a, b, std::back_inserter(expected), order);
  EXPECT_EQ((items_of<tagged>([&] { return set_union(from(a), from(b), order); })), expected);
}

TEST_F(sets, compare_items_of_two_types_where_the_second_are_not_yielded) {
  struct event {
    std::uint64_t time;
    bool operator==(event const&) const = default;
  };
  std::vector<event> a, expected;
  words b;
  for (std::uint64_t i = 0; i < 1000; ++i) a.push_back({i});
  for (std::uint64_t i = 0; i < 2000; i += 7) b.push_back(i);
  for (event e : a)
    if (e.time % 7 == 0) expected.push_back(e);
  struct {
    bool operator()(event e, std::uint64_t x) const { return e.time < x; }
    bool operator()(std::uint64_t x, event e) const { return x < e.time; }
  } const order;
  EXPECT_EQ((items_of<event>([&] { return set_intersection(from(a), from(b), order); })), expected);
}

TEST_F(sets, take_byte_strings) {
  std::vector<std::string> a, b, expected;
  for (std::uint64_t x : sorted(3000, 1)) a.push_back(std::string(x % 90, 'b') + std::to_string(x));
  for (std::uint64_t x : sorted(2000, 2)) b.push_back(std::string(x % 90, 'b') + std::to_string(x));
  std::ranges::sort(b);
  auto sorted_a = a;
  std::ranges::sort(sorted_a);
  std::ranges::set_symmetric_difference(sorted_a, b, std::back_inserter(expected));
  EXPECT_EQ(
      (items_of<std::string>([&] { return set_symmetric_difference(from(a) | sort(), from(b)); })),
      expected);
}

TEST_F(sets, end_early) {
  words const a = sorted(30'000, 1), b = sorted(30'000, 2);
  words expected, some;
  std::ranges::set_union(a, b, std::back_inserter(expected));
  expected.resize(7);
  run(store, zip(set_union(from(a), from(b)) | async(), counter(0, 7)) |
                 transform([](std::uint64_t x, int) { return x; }) |
                 into(std::back_inserter(some)));
  EXPECT_EQ(some, expected);
}

TEST_F(sets, know_how_many_items_come_at_most) {
  words const a = sorted(30, 1), b = sorted(40, 2);
  using detail::item_count;
  EXPECT_EQ(set_union(from(a), from(b)).take_expression().size(), item_count::up_to(70));
  EXPECT_EQ(set_intersection(from(a), from(b)).take_expression().size(), item_count::up_to(30));
  EXPECT_EQ(set_difference(from(a), from(b)).take_expression().size(), item_count::up_to(30));
}

TEST_F(sets, stop_where_a_flow_fails) {
  words const a = sorted(3000, 1);
  auto const fail = [](std::uint64_t x) -> std::uint64_t {
    return x < 500 ? x : throw std::runtime_error("broken");
  };
  EXPECT_THROW(run(store, set_union(from(a), from(a) | transform(fail)) | discard()), flow_error);
}

}  // namespace
}  // namespace outsize::stream

// Both namespaces at once, as programs have them.
namespace user_code {
namespace {

using namespace outsize;
using namespace outsize::stream;

TEST(sets_names, are_not_ambiguous) {
  storage store({.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 16_MiB);
                                        })},
                 .memory_bytes = 4_MiB});
  std::vector<int> const a{1, 3}, b{3};
  EXPECT_EQ(run(store, set_union(from(a), from(b)) | count()), 2U);
  EXPECT_EQ(run(store, set_intersection(from(a), from(b)) | count()), 1U);
  EXPECT_EQ(run(store, set_difference(from(a), from(b), std::less<>()) | count()), 1U);
  EXPECT_EQ(run(store, set_symmetric_difference(from(a), from(b)) | count()), 1U);
}

}  // namespace
}  // namespace user_code
