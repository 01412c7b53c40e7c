// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Groups of equal neighbours are those that a loop over the items finds.
#include <outsize/stream/operators/group.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
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

struct grouping : testing::Test {
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

using pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// First item and length of each group.
pairs groups_of(words const& in) {
  pairs all;
  for (auto x : in) {
    if (all.empty() || all.back().first != x) all.push_back({x, 0});
    ++all.back().second;
  }
  return all;
}

auto const begin_pair = [](std::uint64_t x) { return std::pair(x, std::uint64_t{1}); };
auto const one_more = [](std::pair<std::uint64_t, std::uint64_t> p, std::uint64_t) {
  ++p.second;
  return p;
};
auto const length = [](auto& items) {
  std::pair<std::uint64_t, std::uint64_t> p(*items, 0);
  for (; !items.empty(); ++items) ++p.second;
  return p;
};

TEST_F(grouping, folds_each_group) {
  for (auto n : sizes)
    for (std::uint64_t distinct : {1U, 2U, 10U}) {
      words in = some(n);
      for (auto& x : in) x %= distinct;
      auto const expected = groups_of(in);
      using item = pairs::value_type;
      auto const folded = [&] {
        return from(in) | fold_groups(std::equal_to<>(), begin_pair, one_more);
      };
      auto const read = [&] { return from(in) | group(std::equal_to<>(), length); };
      EXPECT_EQ(items_of<item>(folded), expected);
      EXPECT_EQ(items_of<item>(read), expected);
      pairs const first(expected.begin(),
                        expected.begin() + std::min<std::ptrdiff_t>(2, std::ssize(expected)));
      EXPECT_EQ(items_of<item>([&] { return folded() | take(2); }), first);
      EXPECT_EQ(items_of<item>([&] { return read() | take(2); }), first);
    }
}

TEST_F(grouping, compares_with_the_first_of_the_group) {
  words const in{0, 1, 2, 3, 4, 5, 9, 10};
  auto const close = [](std::uint64_t a, std::uint64_t b) { return b - a < 3; };
  pairs const expected{{0, 3}, {3, 3}, {9, 2}};
  EXPECT_EQ((items_of<pairs::value_type>([&] { return from(in) | group(close, length); })),
            expected);
  EXPECT_EQ((items_of<pairs::value_type>(
                [&] { return from(in) | fold_groups(close, begin_pair, one_more); })),
            expected);
}

TEST_F(grouping, passes_over_items_that_are_not_read) {
  for (std::uint64_t most : {0U, 1U, 2U}) {
    auto const some_of = [most](auto& items) {
      std::uint64_t sum = 0, n = 0;
      for (; n < most && !items.empty(); ++items, ++n) sum += *items;
      return sum;
    };
    words in = some(5000), expected;
    for (auto& x : in) x = 1 + x % 3;
    for (auto [x, n] : groups_of(in)) expected.push_back(x * std::min(most, n));
    EXPECT_EQ(items_of<std::uint64_t>([&] { return from(in) | group(std::equal_to<>(), some_of); }),
              expected);
  }
}

TEST_F(grouping, keeps_the_bytes_of_strings) {
  auto const in = some_strings(3000);
  std::vector<std::string> expected;
  for (std::size_t i = 0, n = 1; i < in.size(); ++i, ++n)
    if (i + 1 == in.size() || in[i + 1] != in[i]) {
      expected.push_back(in[i] + ":" + std::to_string(n));
      n = 0;
    }
  auto const views = [&] { return any_flow<std::string_view>(from(in)); };
  struct counted {
    std::string first;
    std::size_t count;
  };
  auto const text = [](counted const& c) { return c.first + ":" + std::to_string(c.count); };
  auto const folded = [&] {
    return views() |
           fold_groups(
               std::equal_to<>(),
               [](std::string_view s) {
                 return counted{std::string(s), 1};
               },
               [](counted c, std::string_view) { return ++c.count, c; }) |
           transform(text);
  };
  EXPECT_EQ(items_of<std::string>(folded), expected);
  auto const read = [&] {
    return views() |
           group(std::equal_to<>(),
                 [](auto& items) {
                   counted c{std::string(*items), 0};
                   for (; !items.empty(); ++items) ++c.count;
                   return c;
                 }) |
           transform(text);
  };
  EXPECT_EQ(items_of<std::string>(read), expected);
}

TEST_F(grouping, works_on_groups_of_groups) {
  words const in = some(20'000);
  pairs expected;  // lengths of groups, and how often each comes in a row
  for (auto const& [x, n] : groups_of(in)) {
    if (expected.empty() || expected.back().first != n) expected.push_back({n, 0});
    ++expected.back().second;
  }
  auto const made = [&] {
    return from(in) | group(std::equal_to<>(), length) |
           transform([](std::uint64_t, std::uint64_t n) { return n; }) |
           fold_groups(std::equal_to<>(), begin_pair, one_more);
  };
  EXPECT_EQ(items_of<pairs::value_type>(made), expected);
}

TEST_F(grouping, lets_errors_through) {
  auto const fails = [](auto& items) -> std::uint64_t {
    if (*items == 7) throw std::runtime_error("seven");
    return *items;
  };
  EXPECT_THROW(run(store, from(some(1000)) | group(std::equal_to<>(), fails) | count()),
               flow_error);
}

}  // namespace
}  // namespace outsize::stream
