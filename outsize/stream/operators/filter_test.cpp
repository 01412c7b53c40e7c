// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The items that are let through are those that the algorithms of the standard library keep.
#include <outsize/stream/operators/filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/any_flow.hpp>
#include <outsize/stream/operators/take.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/operators/zip.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>

namespace outsize::stream {
namespace {

using words = std::vector<std::uint64_t>;

struct filters : testing::Test {
  storage store{{.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 64_MiB);
                                        })},
                 .memory_bytes = 4_MiB,
                 .threads = 2}};

  static words some(std::size_t count) {
    std::mt19937_64 random(count);
    words all(count);
    for (auto& one : all) one = random() % 10;
    return all;
  }
  static std::vector<std::string> some_strings(std::size_t count) {
    std::vector<std::string> all;
    for (auto x : some(count)) all.push_back(std::string(3 * x, 'a') + std::to_string(x));
    return all;
  }
  /// The items of a flow, which are the same by push and by pull.
  template <typename T, typename Make>
  std::vector<T> items_of(Make make) {
    auto const copy = [](auto const& item) { return T(item); };
    std::vector<T> pushed, pulled;
    run(store, make() | transform(copy) | into(std::back_inserter(pushed)));
    run(store, zip(make(), counter(std::uint64_t{0}, UINT64_MAX)) |
                   transform([](auto const& item, std::uint64_t) { return T(item); }) |
                   into(std::back_inserter(pulled)));
    EXPECT_EQ(pushed, pulled);
    return pushed;
  }
};

constexpr std::array<std::size_t, 6> sizes{0, 1, 2, 7, 1000, 70'000};

TEST_F(filters, let_wanted_items_through) {
  for (auto n : sizes) {
    words const in = some(n);
    std::size_t calls = 0;
    auto const wanted = [&](std::uint64_t x) { return ++calls, x % 3 == 0; };
    words expected;
    std::ranges::copy_if(in, std::back_inserter(expected), [](auto x) { return x % 3 == 0; });
    EXPECT_EQ(items_of<std::uint64_t>([&] { return from(in) | filter(wanted); }), expected);
    EXPECT_EQ(calls, 2 * n);
    EXPECT_EQ((from(in) | filter(wanted)).take_expression().size(), detail::item_count::up_to(n));
    if (expected.size() < 3) continue;
    expected.resize(3);
    EXPECT_EQ(items_of<std::uint64_t>([&] { return from(in) | filter(wanted) | take(3); }),
              expected);
  }
}

TEST_F(filters, behind_each_other_ask_once) {
  words const in = some(1000);
  std::size_t made = 0;
  auto const make = [&](std::uint64_t x) { return ++made, std::to_string(x); };
  auto const short_one = [](std::string const& s) { return s != "7"; };
  auto const flows = [&] {
    return from(in) | transform(make) | filter(short_one) | filter(&std::string::size) | unique();
  };
  std::vector<std::string> expected;
  for (auto x : in)
    if (x != 7 && (expected.empty() || expected.back() != std::to_string(x)))
      expected.push_back(std::to_string(x));
  EXPECT_EQ(items_of<std::string>(flows), expected);
  EXPECT_EQ(made, 2 * in.size());
}

TEST_F(filters, take_tuples_apart) {
  words const in = some(1000);
  auto const equal = [](std::uint64_t a, std::uint64_t b) { return a == b; };
  std::uint64_t sum = 0, expected = 0;
  auto const add = [&](std::uint64_t a, std::uint64_t) { sum += a; };
  auto const pairs = [&] {
    return zip(from(in), from(in) | drop(1)) | filter(equal) | inspect(add) |
           transform([](std::uint64_t a, std::uint64_t) { return a; });
  };
  for (std::size_t i = 0; i + 1 < in.size(); ++i) expected += in[i] == in[i + 1] ? in[i] : 0;
  EXPECT_EQ(run(store, pairs() | reduce(std::uint64_t{0})), expected);
  EXPECT_EQ(std::exchange(sum, 0), expected);
  items_of<std::uint64_t>(pairs);
  EXPECT_EQ(sum, 2 * expected);
}

TEST_F(filters, inspect_sees_each_item_before_others_do) {
  for (auto n : sizes) {
    words const in = some(n);
    words seen;
    auto const see = [&](std::uint64_t x) { seen.push_back(x); };
    auto const is_seen = [&](std::uint64_t x) { return !seen.empty() && seen.back() == x; };
    EXPECT_EQ(items_of<std::uint64_t>(
                  [&] { return from(in) | inspect(see) | filter(is_seen) | filter(is_seen); }),
              in);
    words twice = in;
    twice.insert(twice.end(), in.begin(), in.end());
    EXPECT_EQ(seen, twice);
    seen.clear();
    run(store, zip(from(in) | inspect(see), counter(0, 100'000)) | discard());
    EXPECT_EQ(seen, in);
  }
  words seen;
  auto const first = [&] {
    return from(words{4, 5, 6, 7}) | inspect([&](std::uint64_t x) { seen.push_back(x); }) | take(2);
  };
  items_of<std::uint64_t>(first);
  EXPECT_EQ(seen, (words{4, 5, 4, 5}));
}

TEST_F(filters, unique_drops_repeats) {
  for (auto n : sizes)
    for (std::uint64_t distinct : {1U, 2U, 10U}) {
      words in = some(n);
      for (auto& x : in) x %= distinct;
      words expected = in;
      expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
      EXPECT_EQ(items_of<std::uint64_t>([&] { return from(in) | unique(); }), expected);
      auto const close = [](std::uint64_t a, std::uint64_t b) { return b - a < 3; };
      expected = in;
      expected.erase(std::unique(expected.begin(), expected.end(), close), expected.end());
      EXPECT_EQ(items_of<std::uint64_t>([&] { return from(in) | unique(close); }), expected);
    }
}

TEST_F(filters, unique_keeps_the_bytes_of_strings) {
  auto const in = some_strings(3000);
  auto expected = in;
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  auto const views = [&] { return any_flow<std::string_view>(from(in)); };
  EXPECT_EQ(items_of<std::string>([&] { return views() | unique(); }), expected);
  auto const tuples = [&] {
    return zip(views(), from(in)) | unique() |
           transform([](std::string_view a, std::string const&) { return std::string(a); });
  };
  EXPECT_EQ(items_of<std::string>(tuples), expected);
}

TEST_F(filters, let_errors_through) {
  words const in = some(1000);
  auto const throws = [](auto const&...) -> bool { throw std::runtime_error("no"); };
  EXPECT_THROW(run(store, from(in) | filter(throws) | discard()), flow_error);
  EXPECT_THROW(run(store, from(in) | inspect(throws) | discard()), flow_error);
  EXPECT_THROW(run(store, from(in) | unique(throws) | discard()), flow_error);
}

}  // namespace
}  // namespace outsize::stream
