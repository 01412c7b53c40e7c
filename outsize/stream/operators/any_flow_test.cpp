// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A flow yields the same items when its operators are hidden.
#include <outsize/stream/operators/any_flow.hpp>

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
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/filter.hpp>
#include <outsize/stream/operators/parallel.hpp>
#include <outsize/stream/operators/sorting_nodes.hpp>
#include <outsize/stream/operators/take.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/operators/zip.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>

namespace outsize::stream {
namespace {

using words = std::vector<std::uint64_t>;

struct hidden_flows : testing::Test {
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

static_assert(!std::is_copy_constructible_v<any_flow<int>>);
static_assert(std::is_nothrow_move_constructible_v<any_flow<int>>);

any_flow<std::uint64_t> odd_ones(words const& in, bool twice) {
  auto odd = from(in) | filter([](std::uint64_t x) { return x % 2 == 1; });
  if (!twice) return odd;
  return std::move(odd) | transform([](std::uint64_t x) { return 2 * x; });
}

TEST_F(hidden_flows, yield_the_same_items) {
  for (auto n : sizes)
    for (bool twice : {false, true}) {
      words const in = some(n);
      words expected;
      for (auto x : in)
        if (x % 2 == 1) expected.push_back(twice ? 2 * x : x);
      EXPECT_EQ(items_of<std::uint64_t>([&] { return odd_ones(in, twice); }), expected);
      auto const further = [&] {
        any_flow<std::uint64_t> f = odd_ones(in, twice);
        f = std::move(f) | transform([](std::uint64_t x) { return x + 1; });
        return std::move(f) | filter([](std::uint64_t x) { return x > 4; });
      };
      std::erase_if(expected, [](std::uint64_t x) { return x <= 3; });
      for (auto& x : expected) ++x;
      EXPECT_EQ(items_of<std::uint64_t>(further), expected);
    }
}

TEST_F(hidden_flows, show_items_that_lie_in_memory_in_place) {
  words const in = some(70'000);
  std::uint64_t same = 0;
  auto const see = [&, at = std::size_t{0}](std::uint64_t const& x) mutable {
    same += &x == &in[at++];
  };
  run(store, any_flow<std::uint64_t>(from(in)) | inspect(see) | discard());
  EXPECT_EQ(same, in.size());
  EXPECT_EQ(items_of<std::uint64_t>([&] { return any_flow<std::uint64_t>(from(in)); }), in);
}

TEST_F(hidden_flows, keep_byte_strings_and_tuples_of_a_batch) {
  auto in = some_strings(3000);
  in.push_back(std::string(100'000, 'x'));
  in.push_back("behind a long one");
  auto const made = [&] { return from(in) | transform([](std::string const& s) { return s; }); };
  EXPECT_EQ(items_of<std::string>([&] { return any_flow<std::string_view>(made()); }), in);
  EXPECT_EQ(items_of<std::string>([&] { return any_flow<std::string>(made()); }), in);
  using pair = std::tuple<std::string_view, std::uint64_t>;
  auto const lengths = [&] {
    return any_flow<pair>(
               zip(any_flow<std::string_view>(made()),
                   from(in) | transform([](std::string const& s) { return s.size(); }))) |
           filter([](std::string_view s, std::uint64_t n) { return s.size() == n; });
  };
  EXPECT_EQ(run(store, lengths() | count()), in.size());
  EXPECT_EQ(run(store, zip(lengths(), counter(0, 100'000)) | count()), in.size());
}

TEST_F(hidden_flows, end_early) {
  words const in = some(70'000);
  auto const first = [&](std::uint64_t n) {
    return [&, n] { return odd_ones(in, false) | take(n); };
  };
  words all = items_of<std::uint64_t>([&] { return odd_ones(in, false); });
  for (std::size_t n : {0U, 1U, 255U, 256U, 257U, 1000U})
    EXPECT_EQ(items_of<std::uint64_t>(first(n)),
              words(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n)));
  auto const within = [&] { return any_flow<std::uint64_t>(odd_ones(in, false) | take(300)); };
  all.resize(300);
  EXPECT_EQ(items_of<std::uint64_t>(within), all);
}

TEST_F(hidden_flows, begin_in_graphs_and_go_through_sorts) {
  words const in = some(50'000);
  for (std::size_t buffers : {0U, 1U}) {
    graph g(store, "hidden", {.channel_buffers = buffers, .channel_buffer_bytes = buffers * 4096});
    auto [a, b] = g.fork<2>(from(in));
    any_flow<std::uint64_t> up = a | sort();
    any_flow<std::uint64_t> same = b;
    any_flow<std::uint64_t> sorted_again = std::move(same) | sort(std::greater<>());
    words out, expected = in;
    g.add(zip(std::move(up), std::move(sorted_again)) |
          transform([](std::uint64_t x, std::uint64_t y) { return 31 * x + y; }) |
          into(std::back_inserter(out)));
    g.run();
    std::ranges::sort(expected);
    words const down(expected.rbegin(), expected.rend());
    for (std::size_t i = 0; i < in.size(); ++i) expected[i] = 31 * expected[i] + down[i];
    EXPECT_EQ(out, expected);
  }
}

TEST_F(hidden_flows, lose_no_item_behind_those_that_are_dropped) {
  auto const any = [](std::uint64_t) { return true; };
  for (auto n : sizes)
    for (std::uint64_t k : {0U, 1U, 3U, 256U, 300U}) {
      words const in = some(n);
      auto const first = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(k, n));
      words const expected(in.begin() + first, in.end());
      using hidden = any_flow<std::uint64_t>;
      EXPECT_EQ(items_of<std::uint64_t>([&] { return hidden(from(in)) | drop(k); }), expected);
      EXPECT_EQ(items_of<std::uint64_t>([&] { return hidden(from(in) | filter(any)) | drop(k); }),
                expected);
    }
}

TEST_F(hidden_flows, go_beside_channels) {
  words const in = some(50'000);
  for (std::size_t buffers : {0U, 1U}) {
    graph g(store, "beside", {.channel_buffers = buffers, .channel_buffer_bytes = buffers * 4096});
    auto [a, b] = g.fork<2>(from(in));
    auto const next = [](std::uint64_t x) { return x + 1; };
    any_flow<std::uint64_t> one = any_flow<std::uint64_t>(a) | transform(next) | async();
    auto const n =
        g.add(zip(std::move(one), b) |
              filter([](std::uint64_t x, std::uint64_t y) { return x == y + 1; }) | count());
    g.run();
    EXPECT_EQ(n.get(), in.size());
  }
}

TEST_F(hidden_flows, know_sizes_and_let_errors_through) {
  words const in = some(100);
  any_flow<std::uint64_t> f = from(in) | take(30);
  EXPECT_EQ(f.take_expression().size(), detail::item_count::exactly(30));
  auto const fails = [](std::uint64_t) -> std::uint64_t { throw std::runtime_error("no"); };
  EXPECT_THROW(run(store, any_flow<std::uint64_t>(from(in) | transform(fails)) | discard()),
               flow_error);
}

}  // namespace
}  // namespace outsize::stream
