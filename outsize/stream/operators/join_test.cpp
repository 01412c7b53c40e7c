// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Merge joins yield the pairs of two nested loops, and items without partner where they should.
#include <outsize/stream/operators/join.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/parallel.hpp>
#include <outsize/stream/operators/sorting_nodes.hpp>
#include <outsize/stream/operators/take.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/operators/zip.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>

namespace outsize::stream {
namespace {

struct order {
  std::uint32_t customer;
  std::uint32_t price;
  bool operator==(order const&) const = default;
};
struct customer {
  std::uint64_t id;
  std::uint32_t city;
  bool operator==(customer const&) const = default;
};
/// The results of joins here: price and city, or 0 for an item that is missing.
struct pair_of_items {
  std::uint64_t key;
  std::uint32_t price;
  std::uint32_t city;
  auto operator<=>(pair_of_items const&) const = default;
};
using pairs = std::vector<pair_of_items>;

pair_of_items make_pair_of(order const& o, customer const& c) { return {c.id, o.price, c.city}; }
pair_of_items make_left(order const& o, customer const* c) {
  return {o.customer, o.price, c == nullptr ? 0 : c->city};
}
pair_of_items make_full(order const* o, customer const* c) {
  return {o == nullptr ? c->id : o->customer, o == nullptr ? 0 : o->price,
          c == nullptr ? 0 : c->city};
}

struct joins : testing::Test {
  storage store{{.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 64_MiB);
                                        })},
                 .memory_bytes = 4_MiB,
                 .threads = 2}};

  std::vector<order> orders;
  std::vector<customer> customers;

  /// Sorted by their keys; `repeats` items have one key on average.
  void draw(std::size_t n, std::size_t m, std::size_t repeats) {
    std::mt19937_64 random(n + m);
    std::size_t const keys = std::max(n, m) / repeats + 1;
    orders.clear();
    customers.clear();
    for (std::uint32_t i = 0; i < n; ++i)
      orders.push_back({static_cast<std::uint32_t>(random() % keys), i + 1});
    for (std::uint32_t i = 0; i < m; ++i) customers.push_back({random() % keys, i + 1});
    std::ranges::stable_sort(orders, {}, &order::customer);
    std::ranges::stable_sort(customers, {}, &customer::id);
  }
  auto partners_of(order const& o) const {
    return std::ranges::equal_range(customers, o.customer, {}, &customer::id);
  }
  pairs inner() const {
    pairs all;
    for (order const& o : orders)
      for (customer const& c : partners_of(o)) all.push_back(make_pair_of(o, c));
    return all;
  }
  pairs left() const {
    pairs all;
    for (order const& o : orders) {
      if (partners_of(o).empty()) all.push_back(make_left(o, nullptr));
      for (customer const& c : partners_of(o)) all.push_back(make_left(o, &c));
    }
    return all;
  }
  pairs full() const {
    pairs all = left();
    for (customer const& c : customers)
      if (!std::ranges::binary_search(orders, c.id, {}, &order::customer))
        all.push_back(make_full(nullptr, &c));
    std::ranges::stable_sort(all, {}, &pair_of_items::key);
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

TEST_F(joins, yield_the_pairs_of_nested_loops) {
  for (auto const& [n, m, repeats] :
       std::vector<std::tuple<std::size_t, std::size_t, std::size_t>>{{0, 0, 1},
                                                                      {0, 1, 1},
                                                                      {1, 0, 1},
                                                                      {1, 1, 1},
                                                                      {0, 3000, 1},
                                                                      {3000, 0, 1},
                                                                      {3, 3000, 2},
                                                                      {50'000, 30'000, 1},
                                                                      {5'000, 5'000, 30},
                                                                      {300, 400, 1000}}) {
    SCOPED_TRACE(testing::Message() << n << ' ' << m << ' ' << repeats);
    draw(n, m, repeats);
    auto const a = [&] { return from(orders); };
    auto const b = [&] { return from(customers); };
    EXPECT_EQ((items_of<pair_of_items>([&] {
                return merge_join(a(), b(), &order::customer, &customer::id, make_pair_of);
              })),
              inner());
    EXPECT_EQ((items_of<pair_of_items>(
                  [&] { return left_join(a(), b(), &order::customer, &customer::id, make_left); })),
              left());
    EXPECT_EQ((items_of<pair_of_items>(
                  [&] { return full_join(a(), b(), &order::customer, &customer::id, make_full); })),
              full());
  }
}

TEST_F(joins, let_items_with_and_without_partner_through) {
  for (auto const& [n, m] : std::vector<std::pair<std::size_t, std::size_t>>{
           {0, 0}, {1, 0}, {0, 1}, {1, 1}, {20'000, 5000}, {5000, 20'000}}) {
    draw(n, m, 2);
    std::vector<order> with, without;
    for (order const& o : orders) (partners_of(o).empty() ? without : with).push_back(o);
    EXPECT_EQ((items_of<order>([&] {
                return semi_join(from(orders), from(customers), &order::customer, &customer::id);
              })),
              with);
    EXPECT_EQ((items_of<order>([&] {
                return anti_join(from(orders), from(customers), &order::customer, &customer::id);
              })),
              without);
  }
}

TEST_F(joins, take_an_order_of_keys) {
  draw(3000, 2000, 3);
  auto expected = inner();
  std::ranges::stable_sort(expected, std::greater<>(), &pair_of_items::key);
  EXPECT_EQ((items_of<pair_of_items>([&] {
              return merge_join(from(orders) | sort(by(&order::customer, std::greater<>())),
                                from(customers) | sort(by(&customer::id, std::greater<>())),
                                &order::customer, &customer::id, make_pair_of, std::greater<>());
            })),
            expected);
}

/// The key of a line "key value".
std::string_view key_of(std::string_view line) { return line.substr(0, line.find(' ')); }

TEST_F(joins, keep_byte_strings_and_their_keys) {
  draw(2000, 3000, 4);
  std::vector<std::string> a, b, expected;
  auto const line = [](std::uint64_t key, std::uint64_t value) {
    return std::string(key % 70, 'k') + std::to_string(key) + ' ' + std::to_string(value);
  };
  for (order const& o : orders) a.push_back(line(o.customer, o.price));
  for (customer const& c : customers) b.push_back(line(c.id, c.city));
  std::ranges::sort(a);
  std::ranges::sort(b);
  for (auto const& x : a)
    for (auto const& y : b)
      if (key_of(x) == key_of(y)) expected.push_back(x + '+' + y);
  auto const both = [](std::string_view x, std::string_view y) {
    return std::string(x) + '+' + std::string(y);
  };
  EXPECT_EQ((items_of<std::string>([&] {
              return merge_join(from(a) | sort(), from(b) | sort(), key_of, key_of, both);
            })),
            expected);
  std::vector<std::string> alone;
  for (auto const& x : a)
    if (std::ranges::none_of(b, [&](auto const& y) { return key_of(x) == key_of(y); }))
      alone.push_back(x);
  EXPECT_EQ((items_of<std::string>(
                [&] { return anti_join(from(a) | sort(), from(b) | sort(), key_of, key_of); })),
            alone);
  auto const left_or_both = [](std::string_view const* x, std::string_view const* y) {
    return (x == nullptr ? "-" : std::string(*x)) + '+' + (y == nullptr ? "-" : std::string(*y));
  };
  auto const all = items_of<std::string>(
      [&] { return full_join(from(a) | sort(), from(b), key_of, key_of, left_or_both); });
  EXPECT_EQ(all.size(), full().size());  // keys have the same partners as numbers
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, [](std::string const& s) {
    auto const plus = s.find('+');
    return std::string(key_of(s[0] == '-' ? std::string_view(s).substr(plus + 1) : s));
  }));
}

TEST_F(joins, keep_views_that_are_parts_of_tuples) {
  std::vector<std::string> words;
  for (std::uint64_t i = 0; i < 1000; ++i) words.push_back(std::string(i % 40, 'w'));
  std::ranges::sort(words);
  std::vector<std::string> expected;
  for (auto const& x : words)
    for (auto const& y : words)
      if (x == y && x.size() % 8 == 0) expected.push_back(x + y);
  auto const key = [](auto const& t) { return std::get<0>(t); };
  auto const make = [](auto const& x, auto const& y) {
    return std::string(std::get<0>(x)) + std::string(std::get<0>(y));
  };
  auto const numbered = [&] { return zip(from(words) | sort(), counter(0, 1000)); };
  std::vector<std::string> all;
  run(store, merge_join(numbered(), numbered(), key, key, make) |
                 transform([](std::string const& s) { return s; }) | into(std::back_inserter(all)));
  std::erase_if(all, [](std::string const& s) { return s.size() % 16 != 0; });
  EXPECT_EQ(all, expected);
}

TEST_F(joins, join_items_that_are_made_one_by_one) {
  auto const itself = [](std::uint64_t x) { return x; };
  auto const third = [](std::uint64_t x) { return x / 3; };
  std::vector<std::uint64_t> expected;
  for (std::uint64_t i = 0; i < 100; ++i) expected.push_back(i < 90 ? i + 1 : 0);
  EXPECT_EQ((items_of<std::uint64_t>([&] {
              return full_join(counter(std::uint64_t{0}, 30), counter(std::uint64_t{0}, 100),
                               itself, third, [](std::uint64_t const* l, std::uint64_t const* r) {
                                 return l == nullptr ? 0 : *r + 1;
                               });
            })),
            expected);
}

TEST_F(joins, call_make_once_for_each_pair) {
  draw(3000, 3000, 5);
  std::size_t calls = 0;
  auto const counted = [&](order const& o, customer const& c) {
    ++calls;
    return make_pair_of(o, c);
  };
  auto const unseen = [](auto const&, int) { return 0; };
  run(store,
      zip(merge_join(from(orders), from(customers), &order::customer, &customer::id, counted),
          counter(0, INT32_MAX)) |
          transform(unseen) | discard());
  EXPECT_EQ(calls, inner().size());
}

TEST_F(joins, end_early) {
  draw(30'000, 30'000, 3);
  auto expected = inner();
  expected.resize(100);
  auto const make = [&] {
    return merge_join(from(orders), from(customers), &order::customer, &customer::id, make_pair_of);
  };
  EXPECT_EQ((items_of<pair_of_items>([&] { return make() | take(100); })), expected);
  EXPECT_EQ((items_of<pair_of_items>([&] { return make() | async() | take(100); })), expected);
}

TEST_F(joins, stop_where_a_flow_fails) {
  draw(3000, 3000, 3);
  auto const fail = [](customer const& c) -> customer {
    return c.id < 500 ? c : throw std::runtime_error("broken");
  };
  EXPECT_THROW(run(store, merge_join(from(orders), from(customers) | transform(fail),
                                     &order::customer, &customer::id, make_pair_of) |
                              discard()),
               flow_error);
}

}  // namespace
}  // namespace outsize::stream

// Both namespaces at once, as programs have them.
namespace user_code {
namespace {

using namespace outsize;
using namespace outsize::stream;

TEST(joins_names, are_not_ambiguous) {
  storage store({.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 16_MiB);
                                        })},
                 .memory_bytes = 4_MiB});
  std::vector<int> const a{1, 3}, b{3};
  std::identity const key;
  EXPECT_EQ(run(store, merge_join(from(a), from(b), key, key, std::plus<>()) | count()), 1U);
  EXPECT_EQ(run(store, semi_join(from(a), from(b), key, key) | count()), 1U);
}

}  // namespace
}  // namespace user_code
