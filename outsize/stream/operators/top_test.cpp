// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// top() yields the first items of a sorted flow, few that are kept in memory and many that are
// sorted.
#include <outsize/stream/operators/top.hpp>

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
#include <outsize/stream/operators/filter.hpp>
#include <outsize/stream/operators/parallel.hpp>
#include <outsize/stream/operators/sorting_nodes.hpp>
#include <outsize/stream/operators/take.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/operators/zip.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>

namespace outsize::stream {
namespace {

using words = std::vector<std::uint64_t>;

struct tagged {
  std::uint32_t key, tag, more;
  bool operator==(tagged const&) const = default;
};

struct tops : testing::Test {
  storage store{{.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 64_MiB);
                                        })},
                 .memory_bytes = 4_MiB,
                 .threads = 2}};

  static words some(std::size_t count) {
    std::mt19937_64 random(count);
    words all(count);
    for (auto& one : all) one = random() % (count + 1);
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

TEST_F(tops, are_the_first_items_of_an_order) {
  for (std::size_t const n : {0U, 1U, 1000U, 100'000U}) {
    words const all = some(n);
    words up = all, down = all;
    std::ranges::sort(up);
    std::ranges::sort(down, std::greater<>());
    for (std::size_t const k : {0U, 1U, 10U, 1000U, 5000U}) {
      SCOPED_TRACE(testing::Message() << n << ' ' << k);
      auto const first = [&](words const& v) {
        return words(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(std::min(n, k)));
      };
      EXPECT_EQ((items_of<std::uint64_t>([&] { return from(all) | top(k); })), first(up));
      EXPECT_EQ((items_of<std::uint64_t>([&] {
                  return from(all) | filter([](auto) { return true; }) | top(k, std::greater<>());
                })),
                first(down));
    }
  }
}

TEST_F(tops, that_do_not_fit_in_memory_are_sorted) {
  words const all = some(800'000);
  words expected = all;
  std::ranges::sort(expected);
  expected.resize(600'000);
  EXPECT_EQ((items_of<std::uint64_t>([&] { return from(all) | top(600'000); })), expected);
  EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

TEST_F(tops, of_equal_items_are_the_first_that_came) {
  std::vector<tagged> all;
  for (std::uint32_t i = 0; i < 50'000; ++i) all.push_back({i * 7919 % 100, i, 0});
  auto expected = all;
  std::ranges::stable_sort(expected, {}, &tagged::key);
  expected.resize(777);
  EXPECT_EQ((items_of<tagged>([&] { return from(all) | top(777, by(&tagged::key)); })), expected);
  EXPECT_EQ((items_of<tagged>([&] {
              return from(all) |
                     top(777, [](tagged const& a, tagged const& b) { return a.key < b.key; });
            })),
            expected);
}

TEST_F(tops, of_floating_point_numbers) {
  std::vector<double> all;
  for (std::uint64_t x : some(10'000)) all.push_back(static_cast<double>(x) - 5000.5);
  auto expected = all;
  std::ranges::sort(expected);
  expected.resize(100);
  EXPECT_EQ((items_of<double>([&] { return from(all) | top(100); })), expected);
}

TEST_F(tops, of_byte_strings) {
  std::vector<std::string> all;
  for (std::uint64_t x : some(20'000)) all.push_back(std::string(x % 50, 'a') + std::to_string(x));
  auto expected = all;
  std::ranges::sort(expected);
  for (std::size_t const k : {0U, 1U, 50U, 19'000U, 30'000U}) {
    auto first = expected;
    first.resize(std::min(k, first.size()));
    EXPECT_EQ((items_of<std::string>([&] { return from(all) | top(k); })), first) << k;
  }
  std::string const kept = run(
      store,
      from(all) | top(1, byte_order()) |
          reduce(std::string(), [](std::string, std::string_view s) { return std::string(s); }));
  EXPECT_EQ(kept, expected[0]);
}

TEST_F(tops, stand_beside_sorts) {
  words const all = some(300'000);
  graph g(store);
  auto [a, b] = g.fork<2>(from(all));
  words first, last;
  g.add(zip(a | sort(), b | top(1000)) |
        transform([](std::uint64_t x, std::uint64_t y) { return x == y ? x : UINT64_MAX; }) |
        into(std::back_inserter(first)));
  g.run();
  words expected = all;
  std::ranges::sort(expected);
  expected.resize(1000);
  EXPECT_EQ(first, expected);
}

TEST_F(tops, end_early) {
  words const all = some(10'000);
  words expected = all;
  std::ranges::sort(expected);
  expected.resize(10);
  EXPECT_EQ((items_of<std::uint64_t>([&] { return from(all) | top(1000) | take(10); })), expected);
  EXPECT_EQ((items_of<std::uint64_t>(
                [&] { return from(all) | async() | top(1000) | async() | take(10); })),
            expected);
}

TEST_F(tops, stop_where_the_flow_fails) {
  words const all = some(3000);
  auto const fail = [n = 0](std::uint64_t x) mutable -> std::uint64_t {
    return ++n < 1000 ? x : throw std::runtime_error("broken");
  };
  EXPECT_THROW(run(store, from(all) | transform(fail) | top(10) | discard()), flow_error);
}

TEST_F(tops, know_how_many_items_come) {
  words const all = some(300);
  EXPECT_EQ((from(all) | top(10)).take_expression().size(), detail::item_count::exactly(10));
  EXPECT_EQ((from(all) | top(1000)).take_expression().size(), detail::item_count::exactly(300));
}

}  // namespace
}  // namespace outsize::stream

// Both namespaces at once, as programs have them.
namespace user_code {
namespace {

using namespace outsize;
using namespace outsize::stream;

TEST(tops_names, are_not_ambiguous) {
  storage store({.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 16_MiB);
                                        })},
                 .memory_bytes = 4_MiB});
  std::vector<int> const a{1, 3, 2};
  EXPECT_EQ(run(store, from(a) | top(2) | outsize::stream::reduce(0)), 3);
}

}  // namespace
}  // namespace user_code
