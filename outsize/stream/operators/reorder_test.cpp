// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Reversed and shuffled flows have all items, in the order of the algorithms of the same names, and
// to_index() puts each at its place.
#include <outsize/stream/operators/reorder.hpp>

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

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/scan/permute.hpp>
#include <outsize/scan/shuffle.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/filter.hpp>
#include <outsize/stream/operators/parallel.hpp>
#include <outsize/stream/operators/take.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/operators/zip.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>

namespace outsize::stream {
namespace {

using words = std::vector<std::uint64_t>;
using strings = std::vector<std::string>;

struct reordered : testing::Test {
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
  static strings some_strings(std::size_t count, std::size_t longest) {
    strings all;
    for (std::uint64_t x : some(count)) all.push_back(std::string(x % longest, 'a') + "b");
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
    EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
    EXPECT_EQ(store.allocated_bytes(), 0U);
    return pushed;
  }
};

TEST_F(reordered, reverse_yields_the_last_item_first) {
  for (std::size_t const n : {0U, 1U, 2U, 5000U, 700'000U}) {
    words const all = some(n);
    words const expected(all.rbegin(), all.rend());
    EXPECT_EQ((items_of<std::uint64_t>([&] { return from(all) | reverse(); })), expected) << n;
  }
}

TEST_F(reordered, reverse_takes_byte_strings_of_all_lengths) {
  for (std::size_t const n : {0U, 1U, 2U, 3000U}) {
    strings all = some_strings(n, 3000);
    if (n == 2) all[1].clear();
    if (n > 2) all[7] = std::string(200'000, 'x'), all[n - 1] = std::string(500'000, 'y');
    strings const expected(all.rbegin(), all.rend());
    EXPECT_EQ((items_of<std::string>([&] { return from(all) | reverse(); })), expected) << n;
  }
}

TEST_F(reordered, reverse_twice_is_nothing) {
  struct triple {
    std::uint64_t a, b, c;
    bool operator==(triple const&) const = default;
  };
  std::vector<triple> all;
  for (std::uint64_t i = 0; i < 50'000; ++i) all.push_back({i, 2 * i, 3 * i});
  EXPECT_EQ((items_of<triple>([&] { return from(all) | reverse() | reverse(); })), all);
}

TEST_F(reordered, reverse_stands_behind_a_fork_and_before_a_join) {
  words const all = some(100'000);
  graph g(store);
  auto [a, b] = g.fork<2>(from(all));
  words sums;
  g.add(zip(a | reverse(), b) |
        transform([](std::uint64_t x, std::uint64_t y) { return 3 * x + y; }) |
        into(std::back_inserter(sums)));
  g.run();
  words expected;
  for (std::size_t i = 0; i < all.size(); ++i)
    expected.push_back(3 * all[all.size() - 1 - i] + all[i]);
  EXPECT_EQ(sums, expected);
}

TEST_F(reordered, shuffle_orders_items_as_the_algorithm_does) {
  for (std::size_t const n : {0U, 1U, 2U, 3000U, 200'000U}) {
    words const all = some(n);
    words expected;
    {
      vector<std::uint64_t> v(store);
      for (auto x : all) v.push_back(x);
      outsize::shuffle(v, std::mt19937_64(7));
      std::ranges::copy(v, std::back_inserter(expected));
    }
    EXPECT_EQ((items_of<std::uint64_t>([&] { return from(all) | shuffle(7); })), expected) << n;
  }
}

TEST_F(reordered, shuffle_depends_on_the_seed) {
  words const all = some(1000);
  auto const with_seed = [&](std::uint64_t seed) {
    return items_of<std::uint64_t>([&] { return from(all) | shuffle(seed); });
  };
  EXPECT_EQ(with_seed(1), with_seed(1));
  EXPECT_NE(with_seed(1), with_seed(2));
  EXPECT_TRUE(std::ranges::is_permutation(with_seed(1), all));
}

TEST_F(reordered, shuffle_takes_byte_strings) {
  strings const all = some_strings(5000, 100);
  auto shuffled = items_of<std::string>([&] { return from(all) | shuffle(1); });
  EXPECT_NE(shuffled, all);
  auto expected = all;
  std::ranges::sort(shuffled);
  std::ranges::sort(expected);
  EXPECT_EQ(shuffled, expected);
}

struct degree {
  std::uint32_t node;
  std::uint32_t edges;
};

TEST_F(reordered, to_index_fills_gaps_and_takes_the_first_of_an_index) {
  std::vector<degree> all;
  for (std::uint32_t i = 0; i < 30'000; ++i)
    if (i % 7 != 3 && i % 1000 > 5) all.insert(all.end(), 1 + i % 3, {i, i});
  for (std::size_t i = 0; i < all.size(); ++i) all[i].edges += static_cast<std::uint32_t>(i);
  for (std::uint64_t const n : {0U, 1U, 10U, 20'000U, 40'000U}) {
    std::vector<std::uint32_t> expected(n, 99);
    for (auto d = all.rbegin(); d != all.rend(); ++d)
      if (d->node < n) expected[d->node] = d->edges;
    EXPECT_EQ((items_of<std::uint32_t>(
                  [&] { return from(all) | to_index(n, &degree::node, &degree::edges, 99); })),
              expected)
        << n;
  }
  std::vector<degree> const none;
  EXPECT_EQ((items_of<std::uint32_t>(
                [&] { return from(none) | to_index(3, &degree::node, &degree::edges, 5); })),
            (std::vector<std::uint32_t>(3, 5)));
}

TEST_F(reordered, to_index_yields_byte_strings) {
  strings const all{"0 a", "2 bb", "2 c", "5 ddd"};
  auto const index = [](std::string_view s) { return s[0] - '0'; };
  auto const value = [](std::string_view s) { return s.substr(2); };
  EXPECT_EQ((items_of<std::string>([&] { return from(all) | to_index(7, index, value, "-"); })),
            (strings{"a", "-", "bb", "-", "-", "ddd", "-"}));
}

TEST_F(reordered, end_early) {
  words const all = some(30'000);
  EXPECT_EQ((items_of<std::uint64_t>([&] { return from(all) | reverse() | take(2); })),
            (words{all.back(), all[all.size() - 2]}));
  EXPECT_EQ((items_of<std::uint64_t>([&] { return from(all) | shuffle(3) | take(2); })).size(), 2U);
  auto const value = [](std::uint64_t x) { return x; };
  EXPECT_EQ((items_of<std::uint64_t>([&] {
              return counter(std::uint64_t{5}, 1000) | to_index(500, value, value, 1) | take(6);
            })),
            (words{1, 1, 1, 1, 1, 5}));
}

TEST_F(reordered, stop_where_the_flow_fails) {
  words const all = some(3000);
  auto const fail = [](std::uint64_t x) -> std::uint64_t {
    return x < 2000 ? x : throw std::runtime_error("broken");
  };
  EXPECT_THROW(run(store, from(all) | transform(fail) | reverse() | discard()), flow_error);
  EXPECT_THROW(run(store, from(all) | transform(fail) | shuffle(1) | discard()), flow_error);
  EXPECT_THROW(run(store, from(all) | reverse() | transform(fail) | discard()), flow_error);
  EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
}

}  // namespace
}  // namespace outsize::stream

// Both namespaces at once, as programs have them.
namespace user_code {
namespace {

using namespace outsize;
using namespace outsize::stream;

TEST(reordered_names, are_not_ambiguous) {
  storage store({.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 16_MiB);
                                        })},
                 .memory_bytes = 4_MiB});
  std::vector<int> const a{1, 3, 2};
  EXPECT_EQ(run(store, from(a) | reverse() | shuffle(1) | count()), 3U);
}

}  // namespace
}  // namespace user_code
