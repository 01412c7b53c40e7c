// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The ranges of all items follow one another, as in a loop within a loop.
#include <outsize/stream/operators/flat_map.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/filter.hpp>
#include <outsize/stream/operators/take.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/operators/zip.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>

namespace outsize::stream {
namespace {

using words = std::vector<std::uint64_t>;

struct flattening : testing::Test {
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

TEST_F(flattening, joins_ranges_of_items) {
  for (auto n : sizes) {
    words const in = some(n);
    auto const repeated = [](std::uint64_t x) { return words(x % 4, x); };
    words expected;
    for (auto x : in) expected.insert(expected.end(), x % 4, x);
    EXPECT_EQ(items_of<std::uint64_t>([&] { return from(in) | flat_map(repeated); }), expected);
  }
}

TEST_F(flattening, takes_views_that_refer_to_their_item) {
  std::vector<words> in;
  for (std::size_t i = 0; i < 1000; ++i) in.push_back(some(i % 7));
  words expected;
  for (auto const& each : in) expected.insert(expected.end(), each.begin(), each.end());
  auto const self = [](words const& all) -> words const& { return all; };
  auto const span = [](words const& all) { return std::span(all); };
  auto const copy = [](words const& all) { return all; };
  EXPECT_EQ(items_of<std::uint64_t>([&] { return from(in) | flat_map(self); }), expected);
  // The items are values of their own here, which end with the expression that yields them.
  auto const values = [&] {
    return zip(from(in), from(in)) | transform([](auto const& a, auto const&) { return a; }) |
           flat_map(span);
  };
  EXPECT_EQ(items_of<std::uint64_t>(values), expected);
  auto const made = [&] {
    return generate([&in, i = std::size_t{0}]() mutable {
             return i < in.size() ? std::optional(in[i++]) : std::nullopt;
           }) |
           transform(copy) | flat_map(span);
  };
  EXPECT_EQ(items_of<std::uint64_t>(made), expected);
  auto const of_tuple = [](words const& all, std::uint64_t i) {
    return std::span(all).first(std::min<std::size_t>(i, all.size()));
  };
  auto const of_tuples = [&] {
    return zip(from(in), counter(std::uint64_t{0}, std::uint64_t{5})) | flat_map(of_tuple);
  };
  EXPECT_EQ(items_of<std::uint64_t>(of_tuples).size(), 0U + 1 + 2 + 3 + 4);
}

TEST_F(flattening, yields_words_of_lines) {
  std::vector<std::string> const in{"the quick", "", "brown", "fox jumps over"};
  auto const words_of = [](std::string_view line) {
    return line | std::views::split(' ') | std::views::transform([](auto const& word) {
             return std::string_view(word.begin(), word.end());
           });
  };
  std::vector<std::string> const expected{"the", "quick", "brown", "fox", "jumps", "over"};
  EXPECT_EQ(items_of<std::string>([&] { return from(in) | flat_map(words_of); }), expected);
}

TEST_F(flattening, calls_functions_once_for_each_item) {
  words const in = some(1000);
  std::size_t outer = 0, inner = 0;
  auto const twice = [&](std::uint64_t x) {
    ++outer;
    return std::views::iota(x, x + 2) |
           std::views::transform([&inner](std::uint64_t y) { return ++inner, y; });
  };
  auto const any = [](std::uint64_t) { return true; };
  EXPECT_EQ(
      items_of<std::uint64_t>([&] { return from(in) | flat_map(twice) | filter(any); }).size(),
      2000U);
  EXPECT_EQ(outer, 2000U);
  EXPECT_EQ(inner, 4000U);
}

TEST_F(flattening, ends_early_and_within_another) {
  words const in = some(70'000);
  auto const self = [](std::uint64_t x) { return words(x, x); };
  auto const made = [&] { return from(in) | flat_map(self) | flat_map(self) | take(1000); };
  words expected;
  for (auto x : in) expected.insert(expected.end(), x * x, x);
  expected.resize(1000);
  EXPECT_EQ(items_of<std::uint64_t>(made), expected);
  auto const inner_end = [&](std::uint64_t x) {
    if (x == 9) throw std::runtime_error("nine");
    return words{x};
  };
  EXPECT_THROW(run(store, from(in) | flat_map(inner_end) | count()), flow_error);
}

}  // namespace
}  // namespace outsize::stream
