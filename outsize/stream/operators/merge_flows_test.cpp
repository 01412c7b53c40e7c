// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Merged flows hold the items that std::merge yields, in that order, whether they are pushed or
// pulled.
#include <outsize/stream/operators/merge_flows.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/merge.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/scan/merge_containers.hpp>
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

struct tagged {
  std::uint32_t key;
  std::uint32_t tag;
  bool operator==(tagged const&) const = default;
};

struct merging : testing::Test {
  storage store{{.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 64_MiB);
                                        })},
                 .memory_bytes = 4_MiB,
                 .threads = 2}};

  static words sorted(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    words all(count);
    for (auto& one : all) one = random() % (count / 2 + 1);
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

TEST_F(merging, has_the_items_of_two_flows_in_order) {
  for (auto const& [n, m] : std::vector<std::pair<std::size_t, std::size_t>>{
           {0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 5000}, {5000, 0}, {3, 5000}, {70'000, 50'000}}) {
    words const a = sorted(n, 1), b = sorted(m, 2);
    words expected;
    std::ranges::merge(a, b, std::back_inserter(expected));
    EXPECT_EQ((items_of<std::uint64_t>([&] { return merge(from(a), from(b)); })), expected)
        << n << ' ' << m;
  }
}

TEST_F(merging, takes_any_number_of_flows_of_different_types) {
  words const a = sorted(1000, 1), b = sorted(17, 2), c = sorted(3000, 3), d = sorted(1, 4), e;
  words expected;
  for (words const* one : {&a, &b, &c, &d, &e}) std::ranges::copy(*one, back_inserter(expected));
  for (std::uint64_t i = 0; i < 2000; ++i) expected.push_back(i);
  std::ranges::sort(expected);
  auto const same = [](std::uint64_t x) { return x; };
  EXPECT_EQ((items_of<std::uint64_t>([&] {
              return merge(from(a), from(b) | transform(same), counter(std::uint64_t{0}, 2000),
                           from(c), from(d), from(e));
            })),
            expected);
}

// std::merge takes five or six arguments, too, and is found by their types.
TEST_F(merging, is_not_taken_for_the_algorithm_of_iterators) {
  words const a = sorted(10, 1);
  words expected;
  for (auto x : a) expected.insert(expected.end(), 5, x);
  EXPECT_EQ(
      (items_of<std::uint64_t>([&] { return merge(from(a), from(a), from(a), from(a), from(a)); })),
      expected);
  EXPECT_EQ((items_of<std::uint64_t>(
                [&] { return merge(std::less<>(), from(a), from(a), from(a), from(a), from(a)); })),
            expected);
  expected.clear();
  for (auto x : a) expected.insert(expected.end(), 6, x);
  EXPECT_EQ((items_of<std::uint64_t>(
                [&] { return merge(from(a), from(a), from(a), from(a), from(a), from(a)); })),
            expected);
}

TEST_F(merging, keeps_the_order_of_flows_among_equal_items) {
  std::vector<tagged> all, expected;
  std::vector<std::vector<tagged>> in(4);
  for (std::uint32_t i = 0; i < 4; ++i)
    for (std::uint32_t k = 0; k < 500; ++k) in[i].push_back({(k * (i + 1)) / 7, i * 1000 + k});
  for (auto const& one : in) std::ranges::copy(one, back_inserter(expected));
  std::ranges::stable_sort(expected, {}, &tagged::key);
  EXPECT_EQ((items_of<tagged>([&] {
              return merge(by(&tagged::key), from(in[0]), from(in[1]), from(in[2]), from(in[3]));
            })),
            expected);
}

TEST_F(merging, takes_an_order) {
  words a = sorted(1000, 1), b = sorted(2000, 2);
  words expected = a;
  std::ranges::copy(b, back_inserter(expected));
  for (words* one : {&a, &b, &expected}) std::ranges::sort(*one, std::greater<>());
  EXPECT_EQ((items_of<std::uint64_t>([&] { return merge(std::greater<>(), from(a), from(b)); })),
            expected);
}

TEST_F(merging, takes_byte_strings_of_several_kinds) {
  std::vector<std::string> a, b;
  for (std::uint64_t x : sorted(3000, 1)) a.push_back(std::string(x % 90, 'b') + std::to_string(x));
  for (std::uint64_t x : sorted(2000, 2)) b.push_back(std::to_string(x) + "\xff");
  std::vector<std::string> expected = a;
  std::ranges::copy(b, back_inserter(expected));
  std::ranges::sort(expected);
  std::ranges::sort(b);
  // Views of a sort, strings in a vector, and strings that are made for each item.
  auto const made = [](std::string const& s) { return s + ""; };
  EXPECT_EQ((items_of<std::string>([&] { return merge(from(a) | sort(), from(b)); })), expected);
  EXPECT_EQ((items_of<std::string>(
                [&] { return merge(byte_order(), from(a) | sort(), from(b) | transform(made)); })),
            expected);
  std::vector<std::string> by_value;
  run(store, merge(from(b | std::views::transform(made)), from(a) | sort()) |
                 transform([](std::string_view s) { return std::string(s); }) |
                 into(std::back_inserter(by_value)));
  EXPECT_EQ(by_value, expected);
}

TEST_F(merging, ends_early) {
  words const a = sorted(30'000, 1), b = sorted(30'000, 2);
  words expected;
  std::ranges::merge(a, b, std::back_inserter(expected));
  expected.resize(7);
  auto const first_of = [](std::uint64_t x, int) { return x; };
  words pulled, pushed;
  run(store, zip(merge(from(a), from(b)), counter(0, 7)) | transform(first_of) |
                 into(std::back_inserter(pulled)));
  EXPECT_EQ(pulled, expected);
  run(store, zip(merge(from(a), from(b)) | async(), counter(0, 7)) | transform(first_of) |
                 into(std::back_inserter(pushed)));
  EXPECT_EQ(pushed, expected);
}

TEST_F(merging, knows_how_many_items_come) {
  words const a = sorted(30, 1), b = sorted(40, 2);
  auto known = merge(from(a), from(b));
  EXPECT_EQ(known.take_expression().size(), detail::item_count::exactly(70));
}

TEST_F(merging, stops_where_a_flow_fails) {
  words const a = sorted(3000, 1);
  auto const fail = [](std::uint64_t x) -> std::uint64_t {
    return x < 1000 ? x : throw std::runtime_error("broken");
  };
  try {
    run(store, merge(from(a), from(a) | transform(fail)) | discard());
    FAIL();
  } catch (flow_error const& e) {
    EXPECT_NE(std::string(e.what()).find("broken"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace outsize::stream

// Both namespaces at once, as programs have them.
namespace user_code {
namespace {

using namespace outsize;
using namespace outsize::stream;

TEST(merging_names, are_not_ambiguous) {
  storage store({.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 16_MiB);
                                        })},
                 .memory_bytes = 4_MiB});
  std::vector<int> const a{1, 3}, b{2};
  EXPECT_EQ(run(store, merge(from(a), from(b)) | count()), 3U);
  EXPECT_EQ(run(store, merge(std::less<>(), from(a), from(b), from(b)) | count()), 4U);
  EXPECT_EQ(run(store, merge(from(a), from(a), from(a), from(a), from(a)) | count()), 10U);
}

}  // namespace
}  // namespace user_code
