// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Any stream is a range for loops, for the standard algorithms and for from().
#include <outsize/stream/stream_range.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <ranges>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/group.hpp>
#include <outsize/stream/operators/via.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>

namespace outsize::stream {
namespace {

using words = std::vector<std::uint64_t>;

/// Items of a vector, as a stream that yields references.
template <typename T>
class items_of {
 public:
  explicit items_of(std::vector<T> all) : all_(std::move(all)) {}
  bool empty() const { return next_ == all_.size(); }
  T const& operator*() const { return all_[next_]; }
  items_of& operator++() {
    ++next_;
    return *this;
  }

 private:
  std::vector<T> all_;
  std::size_t next_ = 0;
};

/// Yields tuples of references, as zip() does.
class squares {
 public:
  using value_type = std::tuple<std::uint64_t, std::string>;
  bool empty() const { return n_ == 10; }
  std::tuple<std::uint64_t&, std::string&> operator*() {
    square_ = n_ * n_;
    text_ = std::to_string(n_);
    return {square_, text_};
  }
  squares& operator++() {
    ++n_;
    return *this;
  }

 private:
  std::uint64_t n_ = 0, square_ = 0;
  std::string text_;
};

/// A stream that cannot be copied, of items that cannot either.
class boxes {
 public:
  bool empty() const { return *n_ == 5; }
  std::unique_ptr<int> operator*() const { return std::make_unique<int>(*n_); }
  boxes& operator++() {
    ++*n_;
    return *this;
  }

 private:
  std::unique_ptr<int> n_ = std::make_unique<int>(0);
};

template <typename S>
concept is_range_of =
    std::ranges::input_range<stream_range<S>> && std::ranges::common_range<stream_range<S>> &&
    std::ranges::view<stream_range<S>>;
static_assert(is_range_of<items_of<int>> && is_range_of<items_of<int>&>);
static_assert(is_range_of<squares> && is_range_of<squares&>);
static_assert(is_range_of<boxes> && is_range_of<boxes&>);
static_assert(
    std::same_as<std::ranges::range_reference_t<stream_range<items_of<int>>>, int const&>);
static_assert(!std::ranges::forward_range<stream_range<items_of<int>>>);

TEST(stream_range, is_read_by_loops) {
  for (std::size_t n : {0U, 1U, 1000U}) {
    words in(n), out;
    std::iota(in.begin(), in.end(), 5);
    for (auto const& x : as_range(items_of(in))) out.push_back(x);
    EXPECT_EQ(out, in);
  }
  int sum = 0;
  for (auto const& box : as_range(boxes())) sum += *box;
  EXPECT_EQ(sum, 10);
}

TEST(stream_range, is_read_by_algorithms) {
  words in(1000);
  std::iota(in.begin(), in.end(), 5);
  items_of s(in);
  auto const all = as_range(s);
  EXPECT_EQ(std::accumulate(all.begin(), all.end(), std::uint64_t{0}),
            std::accumulate(in.begin(), in.end(), std::uint64_t{0}));
  EXPECT_TRUE(s.empty());
  EXPECT_TRUE(std::ranges::equal(as_range(items_of(in)), in));
  items_of again(in);
  auto const r = as_range(again);
  EXPECT_EQ(words(r.begin(), r.end()), in);
  EXPECT_EQ(std::ranges::count_if(as_range(items_of(in)), [](auto x) { return x % 2 == 0; }), 500);
}

TEST(stream_range, leaves_the_stream_at_the_item_that_was_found) {
  items_of s(words{3, 1, 4, 1, 5, 9});
  auto const found = std::ranges::find(as_range(s), 4U);
  EXPECT_EQ(*found, 4U);
  EXPECT_EQ(*s, 4U);
  auto const rest = as_range(s);
  auto at = rest.begin();
  EXPECT_EQ(*at++, 4U);
  EXPECT_EQ(*at, 1U);
  EXPECT_EQ(std::distance(at, rest.end()), 3);
}

TEST(stream_range, goes_through_views) {
  auto const even = [](std::uint64_t x) { return x % 2 == 0; };
  words out;
  std::ranges::copy(as_range(items_of(words{1, 2, 3, 4, 5, 6, 7, 8})) | std::views::filter(even) |
                        std::views::take(3),
                    std::back_inserter(out));
  EXPECT_EQ(out, (words{2, 4, 6}));
  std::string text;
  for (auto const& [square, name] : as_range(squares()))
    text += name + ":" + std::to_string(square);
  EXPECT_EQ(text, "0:01:12:43:94:165:256:367:498:649:81");
}

TEST(stream_range, begins_flows_and_reads_streams_within) {
  storage store({.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 64_MiB);
                                        })},
                 .memory_bytes = 4_MiB});
  words const in{1, 1, 1, 2, 2, 3};
  EXPECT_EQ(run(store, from(as_range(items_of(in))) | reduce(std::uint64_t{0})), 10U);
  auto const sum = [](auto& items) {
    auto const group = as_range(items);
    return std::accumulate(group.begin(), group.end(), std::uint64_t{0});
  };
  words out;
  run(store, from(in) | group(std::equal_to<>(), sum) | into(std::back_inserter(out)));
  EXPECT_EQ(out, (words{3, 4, 3}));
  auto const largest = [](auto& all) { return items_of(words{std::ranges::max(as_range(all))}); };
  EXPECT_EQ(run(store, from(in) | via(largest) | reduce(std::uint64_t{0})), 3U);
  auto const first_four = [](auto& all) {
    words some;
    std::copy_n(as_range(all).begin(), 4, std::back_inserter(some));
    return items_of(some);
  };
  EXPECT_EQ(run(store, from(in) | via(first_four) | reduce(std::uint64_t{0})), 5U);
}

}  // namespace
}  // namespace outsize::stream
