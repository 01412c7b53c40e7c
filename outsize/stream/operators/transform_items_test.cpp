// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Each item becomes f of it, once, whoever asks for it and how often.
#include <outsize/stream/operators/transform_items.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <random>
#include <ranges>
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
#include <outsize/stream/operators/take.hpp>
#include <outsize/stream/operators/zip.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>

namespace outsize::stream {
namespace {

using words = std::vector<std::uint64_t>;

struct transforms : testing::Test {
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

struct edge {
  std::uint32_t source;
  std::uint64_t target;
  std::string name;
  std::uint64_t sum() const { return source + target; }
};

TEST_F(transforms, call_a_function_once_for_each_item) {
  for (auto n : sizes) {
    words const in = some(n);
    std::size_t calls = 0;
    auto const twice = [&](std::uint64_t x) { return ++calls, 2 * x; };
    auto const any = [](std::uint64_t) { return true; };
    words expected;
    for (auto x : in) expected.push_back(2 * x);
    EXPECT_EQ(items_of<std::uint64_t>(
                  [&] { return from(in) | transform(twice) | filter(any) | filter(any); }),
              expected);
    EXPECT_EQ(calls, 2 * n);
    calls = 0;
    auto const unseen = [&] { return zip(from(in) | transform(twice), counter(0, 100'000)); };
    EXPECT_EQ(run(store, unseen() | count()), n);
    EXPECT_EQ(calls, n);
    EXPECT_EQ((from(in) | transform(twice)).take_expression().size(),
              detail::item_count::exactly(n));
  }
}

TEST_F(transforms, take_items_of_several_flows) {
  words const in = some(1000);
  std::vector<std::string> const names = some_strings(1000);
  auto const f = [](std::uint64_t a, std::string_view b, int c) {
    return std::string(b) + std::to_string(a) + std::to_string(c);
  };
  auto const joined = [&] { return zip(from(in), from(names), counter(0, 500)) | transform(f); };
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < 500; ++i) expected.push_back(f(in[i], names[i], static_cast<int>(i)));
  EXPECT_EQ(items_of<std::string>(joined), expected);
  auto const whole = [](std::tuple<std::uint64_t, std::string, int> const& t) {
    return std::get<1>(t) + std::to_string(std::get<0>(t)) + std::to_string(std::get<2>(t));
  };
  EXPECT_EQ(items_of<std::string>(
                [&] { return zip(from(in), from(names), counter(0, 500)) | transform(whole); }),
            expected);
}

TEST_F(transforms, yield_members) {
  std::vector<edge> in;
  for (std::uint32_t i = 0; i < 500; ++i) in.push_back({i, 7 * i, std::to_string(i)});
  words targets, sums;
  std::vector<std::string> names;
  std::vector<std::tuple<std::string, std::uint32_t>> both;
  for (auto const& e : in) {
    targets.push_back(e.target);
    sums.push_back(e.sum());
    names.push_back(e.name);
    both.emplace_back(e.name, e.source);
  }
  EXPECT_EQ(items_of<std::uint64_t>([&] { return from(in) | choose(&edge::target); }), targets);
  EXPECT_EQ(items_of<std::uint64_t>([&] { return from(in) | transform(&edge::sum); }), sums);
  EXPECT_EQ(items_of<std::string>([&] { return from(in) | transform(&edge::name); }), names);
  using pair = std::tuple<std::string, std::uint32_t>;
  EXPECT_EQ(items_of<pair>([&] { return from(in) | choose(&edge::name, &edge::source); }), both);
}

TEST_F(transforms, do_not_copy_what_is_returned_by_reference) {
  std::vector<edge> in(100);
  auto const name = [](edge const& e) -> std::string const& { return e.name; };
  std::size_t same = 0;
  auto see = [&, i = std::size_t{0}](std::string const& s) mutable {
    same += &s == &in[i++ % in.size()].name;
  };
  run(store, from(in) | transform(name) | inspect(std::ref(see)) | discard());
  run(store, zip(from(in) | transform(name) | inspect(std::ref(see)), counter(0, 100)) | discard());
  EXPECT_EQ(same, 2 * in.size());
}

TEST_F(transforms, hold_functions_and_items_that_only_move) {
  words const in = some(100);
  auto const value = [](std::unique_ptr<std::uint64_t> const& p) { return *p; };
  std::uint64_t expected = 0;
  for (auto x : in) expected += 3 * x;
  auto boxed = [k = std::make_unique<std::uint64_t>(3)](std::uint64_t x) {
    return std::make_unique<std::uint64_t>(*k * x);
  };
  static_assert(!std::is_copy_constructible_v<decltype(boxed)>);
  EXPECT_EQ(run(store, from(in) | transform(std::move(boxed)) | transform(value) |
                           reduce(std::uint64_t{0})),
            expected);
}

TEST_F(transforms, may_yield_views_of_strings_that_are_made_for_each_item) {
  words const in = some(1000);
  auto const made = [](std::uint64_t x) { return std::string(40, 'a') + std::to_string(x); };
  auto const strings = in | std::views::transform(made);
  auto const end_of = [](std::string_view s) { return s.substr(30); };
  std::vector<std::string> expected;
  for (auto x : in) expected.push_back(std::string(10, 'a') + std::to_string(x));
  EXPECT_EQ(items_of<std::string>([&] { return from(strings) | transform(end_of); }), expected);
}

TEST_F(transforms, let_errors_through) {
  auto const fails = [](std::uint64_t x) {
    if (x == 7) throw std::runtime_error("seven");
    return x;
  };
  EXPECT_THROW(run(store, from(some(1000)) | transform(fails) | count()), flow_error);
  EXPECT_EQ(run(store, from(words{1, 2, 7}) | transform(fails) | take(2) | count()), 2U);
}

}  // namespace
}  // namespace outsize::stream
