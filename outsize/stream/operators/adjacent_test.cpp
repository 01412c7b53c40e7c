// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Pairs of neighbours and prefix folds are those of a loop over the items.
#include <outsize/stream/operators/adjacent.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <random>
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
#include <outsize/stream/operators/zip.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>

namespace outsize::stream {
namespace {

using words = std::vector<std::uint64_t>;

struct adjacency : testing::Test {
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

static_assert(external_item<neighbours<std::uint64_t>>);
static_assert(!external_item<neighbours<std::string_view>>);

TEST_F(adjacency, yields_pairs_of_neighbours) {
  for (auto n : sizes) {
    words const in = some(n);
    std::vector<neighbours<std::uint64_t>> expected;
    for (std::size_t i = 1; i < n; ++i) expected.push_back({in[i - 1], in[i]});
    auto const pairs = [&] { return from(in) | adjacent(); };
    EXPECT_EQ(items_of<neighbours<std::uint64_t>>(pairs), expected);
    auto const size = pairs().take_expression().size();
    EXPECT_EQ(size, detail::item_count::exactly(expected.size()));
    auto const one = [&] { return pairs() | take(1); };
    EXPECT_EQ(items_of<neighbours<std::uint64_t>>(one).size(),
              std::min<std::size_t>(1, expected.size()));
  }
}

TEST_F(adjacency, keeps_the_bytes_of_the_string_before) {
  auto const in = some_strings(2000);
  std::vector<std::string> expected;
  for (std::size_t i = 1; i < in.size(); ++i) expected.push_back(in[i - 1] + "/" + in[i]);
  auto const text = [](auto const& two) {
    return std::string(two.first) + "/" + std::string(two.second);
  };
  EXPECT_EQ(items_of<std::string>([&] { return from(in) | adjacent() | transform(text); }),
            expected);
  // Views whose bytes change when the stream goes on.
  auto const views = [&] {
    return any_flow<std::string_view>(from(in)) | adjacent() | transform(text);
  };
  EXPECT_EQ(items_of<std::string>(views), expected);
  auto const tuples = [&] {
    return zip(any_flow<std::string_view>(from(in)), from(in)) | adjacent() |
           transform([](auto const& two) {
             return std::string(std::get<0>(two.first)) + "/" + std::get<1>(two.second);
           });
  };
  EXPECT_EQ(items_of<std::string>(tuples), expected);
}

TEST_F(adjacency, scans_prefixes) {
  for (auto n : sizes) {
    words const in = some(n);
    words sums(n), mixed;
    std::inclusive_scan(in.begin(), in.end(), sums.begin(), std::plus<>(), std::uint64_t{5});
    EXPECT_EQ(items_of<std::uint64_t>([&] { return from(in) | scan(std::uint64_t{5}); }), sums);
    std::uint64_t calls = 0, value = 1;
    auto const mix = [&](std::uint64_t a, std::uint64_t b) { return ++calls, a * 31 + b; };
    for (auto x : in) mixed.push_back(value = value * 31 + x);
    auto const any = [](std::uint64_t) { return true; };
    auto const made = [&] { return from(in) | scan(std::uint64_t{1}, mix) | filter(any); };
    EXPECT_EQ(items_of<std::uint64_t>(made), mixed);
    EXPECT_EQ(calls, 2 * n);
    calls = 0;
    EXPECT_EQ(run(store, zip(made(), counter(0, 100'000)) | count()), n);
    EXPECT_EQ(calls, n);
  }
}

TEST_F(adjacency, scans_into_another_type) {
  auto const in = some_strings(100);
  auto const longer = [](std::string all, std::string_view x) { return all += x, all; };
  std::vector<std::string> expected;
  std::string all;
  for (auto const& x : in) expected.push_back(all += x);
  EXPECT_EQ(items_of<std::string>([&] { return from(in) | scan(std::string(), longer); }),
            expected);
  expected.resize(3);
  EXPECT_EQ(items_of<std::string>([&] { return from(in) | scan(std::string(), longer) | take(3); }),
            expected);
}

TEST_F(adjacency, lets_errors_through) {
  auto const fails = [](std::uint64_t a, std::uint64_t b) {
    if (a + b > 50) throw std::overflow_error("too much");
    return a + b;
  };
  EXPECT_THROW(run(store, from(some(1000)) | scan(std::uint64_t{0}, fails) | count()), flow_error);
}

}  // namespace
}  // namespace outsize::stream
