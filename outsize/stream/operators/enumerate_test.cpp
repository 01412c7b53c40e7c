// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Items are numbered in order, and stay items that can be sorted.
#include <outsize/stream/operators/enumerate.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/chunk.hpp>
#include <outsize/stream/operators/filter.hpp>
#include <outsize/stream/operators/sorting_nodes.hpp>
#include <outsize/stream/operators/take.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/operators/zip.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>

namespace outsize::stream {
namespace {

using words = std::vector<std::uint64_t>;

struct enumerating : testing::Test {
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

static_assert(external_item<enumerated<std::uint64_t>>);
static_assert(!external_item<enumerated<std::string_view>>);
static_assert(std::is_aggregate_v<enumerated<char>>);

TEST_F(enumerating, counts_from_a_first_number) {
  for (auto n : sizes)
    for (std::uint64_t first : {std::uint64_t{0}, std::uint64_t{1} << 40}) {
      words const in = some(n);
      std::vector<enumerated<std::uint64_t>> expected;
      for (std::size_t i = 0; i < n; ++i) expected.push_back({first + i, in[i]});
      EXPECT_EQ(items_of<enumerated<std::uint64_t>>([&] { return from(in) | enumerate(first); }),
                expected);
    }
}

TEST_F(enumerating, makes_a_sort_that_can_be_undone) {
  words const in = some(70'000);
  using item = enumerated<std::uint64_t>;
  auto const by_item = [](item const& a, item const& b) { return a.item < b.item; };
  auto const by_index = [](item const& a, item const& b) { return a.index < b.index; };
  auto const is_small = [](item const& x) { return x.item < 9; };
  words out, expected;
  run(store, from(in) | enumerate() | sort(by_item) | take_while(is_small) | sort(by_index) |
                 choose(&item::item) | into(std::back_inserter(out)));
  for (auto x : in)
    if (x < 9) expected.push_back(x);
  EXPECT_EQ(out, expected);
}

TEST_F(enumerating, keeps_byte_strings_with_others) {
  auto const in = some_strings(1000);
  auto const text = [](auto const& all) {
    std::string joined;
    for (auto const& [index, item] : all) joined += std::to_string(index) + std::string(item);
    return joined;
  };
  std::vector<std::string> expected(100);
  for (std::size_t i = 0; i < in.size(); ++i) expected[i / 10] += std::to_string(i) + in[i];
  EXPECT_EQ(items_of<std::string>([&] { return from(in) | enumerate() | chunk(10, text); }),
            expected);
  auto const views = [&] {
    return from(in) | transform([](std::string const& s) { return std::string_view(s); });
  };
  EXPECT_EQ(items_of<std::string>([&] { return views() | enumerate() | chunk(10, text); }),
            expected);
}

TEST_F(enumerating, numbers_items_that_are_taken_or_skipped_later) {
  words const in = some(1000);
  auto const odd = [](enumerated<std::uint64_t> const& x) { return x.index % 2 == 1; };
  EXPECT_EQ(items_of<std::uint64_t>([&] {
              return from(in) | enumerate() | filter(odd) | take(3) |
                     choose(&enumerated<std::uint64_t>::index);
            }),
            (words{1, 3, 5}));
}

}  // namespace
}  // namespace outsize::stream
