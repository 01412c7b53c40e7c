// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Chunks and windows show the items of a flow some at a time.
#include <outsize/stream/operators/chunk.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
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

struct chunks : testing::Test {
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

words copy_of(std::span<std::uint64_t const> items) { return {items.begin(), items.end()}; }

TEST_F(chunks, are_full_but_for_the_last) {
  for (auto n : sizes)
    for (std::size_t k : {1U, 2U, 7U, 999U, 100'000U}) {
      words const in = some(n);
      std::vector<words> expected;
      for (std::size_t i = 0; i < n; i += k)
        expected.push_back(copy_of(std::span(in).subspan(i, std::min(k, n - i))));
      EXPECT_EQ(items_of<words>([&] { return from(in) | chunk(k, copy_of); }), expected);
      EXPECT_EQ((from(in) | chunk(k)).take_expression().size(),
                detail::item_count::exactly(expected.size()));
    }
}

TEST_F(chunks, slide_as_windows) {
  for (auto n : sizes)
    for (std::size_t k : {1U, 2U, 3U, 10U}) {
      words const in = some(n);
      std::vector<words> expected;
      for (std::size_t i = 0; i + k <= n; ++i)
        expected.push_back(copy_of(std::span(in).subspan(i, k)));
      EXPECT_EQ(items_of<words>([&] { return from(in) | window(k, copy_of); }), expected);
      EXPECT_EQ((from(in) | window(k)).take_expression().size(),
                detail::item_count::exactly(expected.size()));
    }
}

TEST_F(chunks, are_spans_without_a_function) {
  words const in = some(10'000);
  auto const sum = [](std::span<std::uint64_t const> s) {
    return std::accumulate(s.begin(), s.end(), std::uint64_t{0});
  };
  EXPECT_EQ(run(store, from(in) | chunk(16) | transform(sum) | reduce(std::uint64_t{0})), sum(in));
  auto const all_same = [](std::span<std::uint64_t const> s) {
    return std::ranges::adjacent_find(s, std::not_equal_to<>()) == s.end();
  };
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i + 3 <= in.size(); ++i)
    expected += all_same(std::span(in).subspan(i, 3));
  EXPECT_EQ(run(store, from(in) | window(3) | filter(all_same) | count()), expected);
}

TEST_F(chunks, keep_the_bytes_of_strings) {
  auto const in = some_strings(1000);
  auto const joined = [](std::span<std::string_view const> all) {
    std::string text;
    for (auto x : all) text.append(x).push_back('/');
    return text;
  };
  std::vector<std::string_view> const of_in(in.begin(), in.end());
  auto const views = [&] { return any_flow<std::string_view>(from(in)); };
  for (std::size_t k : {1U, 3U, 300U}) {
    std::vector<std::string> of_chunks, of_windows;
    for (std::size_t i = 0; i < in.size(); i += k)
      of_chunks.push_back(joined(std::span(of_in).subspan(i, std::min(k, in.size() - i))));
    for (std::size_t i = 0; i + k <= in.size(); ++i)
      of_windows.push_back(joined(std::span(of_in).subspan(i, k)));
    EXPECT_EQ(items_of<std::string>([&] { return views() | chunk(k, joined); }), of_chunks);
    EXPECT_EQ(items_of<std::string>([&] { return views() | window(k, joined); }), of_windows);
  }
}

TEST_F(chunks, read_no_further_than_the_last_one_wanted) {
  auto const source = [](std::uint64_t most) {
    return generate([most, next = std::uint64_t{0}]() mutable -> std::optional<std::uint64_t> {
      if (next == most) throw std::runtime_error("asked too far");
      return next++;
    });
  };
  EXPECT_EQ(items_of<words>([&] { return source(6) | chunk(3, copy_of) | take(2); }),
            (std::vector<words>{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(items_of<words>([&] { return source(4) | window(3, copy_of) | take(2); }),
            (std::vector<words>{{0, 1, 2}, {1, 2, 3}}));
  EXPECT_THROW(run(store, source(6) | chunk(3) | count()), flow_error);
}

TEST(chunks_death, are_not_empty) {
  EXPECT_DEATH((void)chunk(0), "count > 0");
  EXPECT_DEATH((void)window(0), "count > 0");
}

}  // namespace
}  // namespace outsize::stream
