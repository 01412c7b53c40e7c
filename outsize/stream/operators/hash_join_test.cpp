// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Hash joins yield the pairs of two nested loops in the order of these, and stay in the budget.
#include <outsize/stream/operators/hash_join.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
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

struct sale {
  std::uint32_t country;
  std::uint32_t amount;
  bool operator==(sale const&) const = default;
};
struct country {
  std::uint64_t code;
  std::uint32_t tax;
};
struct taxed {
  std::uint32_t amount;
  std::uint32_t tax;
  bool operator==(taxed const&) const = default;
};
using pairs = std::vector<taxed>;

taxed make_pair_of(sale const& s, country const& c) { return {s.amount, c.tax}; }

struct hash_joins : testing::Test {
  storage store{{.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 64_MiB);
                                        })},
                 .memory_bytes = 4_MiB,
                 .threads = 2}};

  std::vector<sale> sales;
  std::vector<country> countries;

  void draw(std::size_t n, std::size_t m, std::size_t keys) {
    std::mt19937_64 random(n + m);
    sales.clear();
    countries.clear();
    for (std::uint32_t i = 0; i < n; ++i)
      sales.push_back({static_cast<std::uint32_t>(random() % keys), i});
    for (std::uint32_t i = 0; i < m; ++i) countries.push_back({random() % keys, i});
  }
  pairs expected() const {
    std::unordered_map<std::uint64_t, std::vector<country>> by_code;
    for (country const& c : countries) by_code[c.code].push_back(c);
    pairs all;
    for (sale const& s : sales)
      if (auto const found = by_code.find(s.country); found != by_code.end())
        for (country const& c : found->second) all.push_back(make_pair_of(s, c));
    return all;
  }
  auto joined() {
    return hash_join(from(sales), from(countries), &sale::country, &country::code, make_pair_of);
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

TEST_F(hash_joins, yield_the_pairs_of_nested_loops) {
  for (auto const& [n, m, keys] :
       std::vector<std::tuple<std::size_t, std::size_t, std::size_t>>{{0, 0, 1},
                                                                      {0, 1, 1},
                                                                      {1, 0, 1},
                                                                      {1, 1, 1},
                                                                      {0, 3000, 10},
                                                                      {3000, 0, 10},
                                                                      {70'000, 500, 1000},
                                                                      {3000, 20'000, 15'000},
                                                                      {100, 100, 2}}) {
    SCOPED_TRACE(testing::Message() << n << ' ' << m << ' ' << keys);
    draw(n, m, keys);
    EXPECT_EQ((items_of<taxed>([&] { return joined(); })), expected());
  }
  EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
}

TEST_F(hash_joins, let_items_with_and_without_partner_through) {
  draw(20'000, 500, 1000);
  std::vector<sale> with, without;
  for (sale const& s : sales) {
    bool const has = std::ranges::find(countries, s.country, &country::code) != countries.end();
    (has ? with : without).push_back(s);
  }
  EXPECT_EQ((items_of<sale>([&] {
              return hash_semi_join(from(sales), from(countries), &sale::country, &country::code);
            })),
            with);
  EXPECT_EQ((items_of<sale>([&] {
              return hash_anti_join(from(sales), from(countries), &sale::country, &country::code);
            })),
            without);
}

std::string_view key_of(std::string_view line) { return line.substr(0, line.find(' ')); }

TEST_F(hash_joins, keep_byte_strings_and_their_keys) {
  draw(5000, 700, 500);
  std::vector<std::string> a, b, all;
  auto const line = [](std::uint64_t key, std::uint64_t value) {
    return std::string(key % 70, 'k') + std::to_string(key) + ' ' + std::to_string(value);
  };
  for (sale const& s : sales) a.push_back(line(s.country, s.amount));
  for (country const& c : countries) b.push_back(line(c.code, c.tax));
  std::ranges::sort(b);
  for (auto const& x : a)
    for (auto const& y : b)
      if (key_of(x) == key_of(y)) all.push_back(x + '+' + y);
  auto const both = [](std::string_view x, std::string_view y) {
    return std::string(x) + '+' + std::string(y);
  };
  EXPECT_EQ((items_of<std::string>(
                [&] { return hash_join(from(a), from(b) | sort(), key_of, key_of, both); })),
            all);
}

TEST_F(hash_joins, say_who_lacks_memory) {
  auto const key = [](std::uint64_t x) { return x; };
  try {
    run(store, hash_join(counter(std::uint64_t{0}, 10), counter(std::uint64_t{0}, 1'000'000), key,
                         key, std::plus<>()) |
                   discard());
    FAIL();
  } catch (flow_error const& e) {
    EXPECT_NE(std::string(e.what()).find("hash_join"), std::string::npos) << e.what();
    try {
      e.rethrow_nested();
    } catch (pipeline::stage_error const& inner) {
      EXPECT_THROW(inner.rethrow_nested(), budget_error);
    } catch (budget_error const& inner) {
      EXPECT_EQ(inner.asker(), "hash_join");
    }
  }
  EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
}

TEST_F(hash_joins, join_two_outputs_of_a_fork) {
  draw(30'000, 0, 20'000);
  graph g(store);
  auto [a, b] = g.fork<2>(from(sales));
  auto few = b | filter([](sale const& s) { return s.amount % 100 == 0; });
  std::uint64_t pairs_expected = 0;
  for (sale const& s : sales)
    for (std::size_t i = 0; i < sales.size(); i += 100)
      pairs_expected += s.country == sales[i].country;
  auto const n = g.add(hash_join(a, std::move(few), &sale::country, &sale::country,
                                 [](sale const&, sale const&) { return 1; }) |
                       count());
  g.run();
  EXPECT_EQ(n.get(), pairs_expected);
}

TEST_F(hash_joins, end_early) {
  draw(30'000, 500, 1000);
  auto all = expected();
  all.resize(100);
  EXPECT_EQ((items_of<taxed>([&] { return joined() | take(100); })), all);
  EXPECT_EQ((items_of<taxed>([&] { return joined() | async() | take(100); })), all);
}

TEST_F(hash_joins, stop_where_a_flow_fails) {
  draw(3000, 3000, 3000);
  auto const fail = [](country const& c) -> country {
    return c.tax < 500 ? c : throw std::runtime_error("broken");
  };
  EXPECT_THROW(run(store, hash_join(from(sales), from(countries) | transform(fail), &sale::country,
                                    &country::code, make_pair_of) |
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

TEST(hash_joins_names, are_not_ambiguous) {
  storage store({.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 16_MiB);
                                        })},
                 .memory_bytes = 4_MiB});
  std::vector<int> const a{1, 3}, b{3};
  std::identity const key;
  EXPECT_EQ(run(store, hash_join(from(a), from(b), key, key, std::plus<>()) | count()), 1U);
  EXPECT_EQ(run(store, hash_anti_join(from(a), from(b), key, key) | count()), 1U);
}

}  // namespace
}  // namespace user_code
