// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Flows are joined item by item until one ends, or end to end.
#include <outsize/stream/operators/zip.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/any_flow.hpp>
#include <outsize/stream/operators/filter.hpp>
#include <outsize/stream/operators/take.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>

namespace outsize::stream {
namespace {

using words = std::vector<std::uint64_t>;

struct joining : testing::Test {
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

TEST_F(joining, zips_until_one_ends) {
  using pair = std::tuple<std::uint64_t, std::uint64_t>;
  for (auto n : sizes)
    for (std::size_t m : {0U, 1U, 5U, 40'000U}) {
      words const a = some(n), b = some(m);
      std::vector<pair> expected;
      for (std::size_t i = 0; i < std::min(n, m); ++i) expected.emplace_back(a[i], b[i]);
      EXPECT_EQ(items_of<pair>([&] { return zip(from(a), from(b)); }), expected);
      EXPECT_EQ(zip(from(a), from(b)).take_expression().size(),
                detail::item_count::exactly(expected.size()));
    }
}

TEST_F(joining, zips_more_than_two_and_ends_early) {
  words const a = some(2000);
  auto const names = some_strings(1500);
  using triple = std::tuple<std::uint64_t, std::string, int>;
  std::vector<triple> expected;
  for (std::size_t i = 0; i < 700; ++i) expected.emplace_back(a[i], names[i], static_cast<int>(i));
  EXPECT_EQ(
      items_of<triple>([&] { return zip(from(a), from(names), counter(0, 10'000)) | take(700); }),
      expected);
}

TEST_F(joining, puts_flows_behind_each_other) {
  for (auto n : sizes)
    for (auto m : {std::size_t{0}, std::size_t{3}, std::size_t{40'000}}) {
      words const a = some(n), b = some(m);
      words expected = a;
      expected.insert(expected.end(), b.begin(), b.end());
      expected.insert(expected.end(), a.begin(), a.end());
      auto const all = [&] { return concat(from(a), from(b), from(a)); };
      EXPECT_EQ(items_of<std::uint64_t>(all), expected);
      EXPECT_EQ(all().take_expression().size(), detail::item_count::exactly(2 * n + m));
      expected.resize(std::min<std::size_t>(expected.size(), n + 2));
      EXPECT_EQ(items_of<std::uint64_t>([&] { return all() | take(n + 2); }), expected);
    }
}

TEST_F(joining, goes_on_behind_a_flow_that_ends_by_itself) {
  words const a = some(1000);
  auto const made = [&] {
    return concat(from(a) | take(3), from(a) | filter([](std::uint64_t) { return false; }),
                  from(a) | take_while([](std::uint64_t) { return true; }) | take(2));
  };
  EXPECT_EQ(items_of<std::uint64_t>(made), (words{a[0], a[1], a[2], a[0], a[1]}));
}

TEST_F(joining, finds_a_common_type) {
  auto const kind = [](auto x) { return x / 2; };  // of integers or not
  auto const numbers = [&] {
    return concat(counter(0, 3), from(std::vector<double>{0.5, 1.5})) | transform(kind);
  };
  EXPECT_EQ(items_of<double>(numbers), (std::vector<double>{0, 0.5, 1, 0.25, 0.75}));
}

TEST_F(joining, keeps_the_bytes_of_strings) {
  auto const in = some_strings(200);
  auto expected = in;
  expected.insert(expected.end(), in.begin(), in.end());
  expected.insert(expected.end(), in.begin(), in.end());
  auto const views = [&] { return any_flow<std::string_view>(from(in)); };
  auto const values = [&] {
    return from(std::views::iota(std::size_t{0}, in.size()) |
                std::views::transform([&in](std::size_t i) { return in[i]; }));
  };
  EXPECT_EQ(items_of<std::string>([&] { return concat(views(), values(), from(in)); }), expected);
  EXPECT_EQ(items_of<std::string>([&] { return concat(values(), from(in), values()); }), expected);
}

TEST_F(joining, does_not_copy_items_that_lie_somewhere) {
  std::vector<std::string> const a = some_strings(50), b = some_strings(60);
  std::size_t same = 0;
  auto see = [&, i = std::size_t{0}](std::string const& s) mutable {
    same += &s == (i < 50 ? &a[i] : &b[i - 50]);
    i = (i + 1) % 110;
  };
  run(store, concat(from(a), from(b)) | inspect(std::ref(see)) | discard());
  run(store, zip(concat(from(a), from(b)) | inspect(std::ref(see)), counter(0, 200)) | discard());
  EXPECT_EQ(same, 220U);
}

TEST_F(joining, lets_errors_through) {
  auto const fails = [] {
    return generate([n = 0]() mutable -> std::optional<int> {
      if (n == 5) throw std::runtime_error("five");
      return n++;
    });
  };
  EXPECT_THROW(run(store, zip(fails(), counter(0, 10)) | discard()), flow_error);
  EXPECT_EQ(run(store, zip(counter(0, 5), fails()) | count()), 5U);
  EXPECT_THROW(run(store, concat(counter(0, 5), fails()) | discard()), flow_error);
}

}  // namespace
}  // namespace outsize::stream
