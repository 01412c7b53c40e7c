// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The first items of a flow and all but these, as std::span::first() and the like have them.
#include <outsize/stream/operators/take.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/filter.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/operators/zip.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>

namespace outsize::stream {
namespace {

using words = std::vector<std::uint64_t>;

struct taking : testing::Test {
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

TEST_F(taking, takes_the_first_items) {
  for (auto n : sizes)
    for (std::uint64_t k : {0U, 1U, 7U, 40'000U}) {
      words const in = some(n);
      words const expected(in.begin(),
                           in.begin() + std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(n),
                                                                 static_cast<std::ptrdiff_t>(k)));
      EXPECT_EQ(items_of<std::uint64_t>([&] { return from(in) | take(k); }), expected);
      EXPECT_EQ(run(store, from(in) | take(k) | count()), expected.size());
    }
}

TEST_F(taking, drops_the_first_items) {
  for (auto n : sizes)
    for (std::uint64_t k : {0U, 1U, 7U, 40'000U, 100'000U}) {
      words const in = some(n);
      words const expected(in.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(n, k)),
                           in.end());
      EXPECT_EQ(items_of<std::uint64_t>([&] { return from(in) | drop(k); }), expected);
      auto const not_in_batches = [&] { return from(in) | transform(std::identity()) | drop(k); };
      EXPECT_EQ(items_of<std::uint64_t>(not_in_batches), expected);
    }
}

TEST_F(taking, goes_on_while_a_predicate_is_true) {
  for (auto n : sizes)
    for (std::uint64_t limit : {0U, 5U, 9U, 10U}) {
      words const in = some(n);
      std::size_t calls = 0;
      auto const below = [&](std::uint64_t x) { return ++calls, x < limit; };
      auto const end = std::ranges::find_if(in, [=](std::uint64_t x) { return x >= limit; });
      auto const asked = static_cast<std::size_t>(end - in.begin()) + (end != in.end());
      EXPECT_EQ(items_of<std::uint64_t>([&] { return from(in) | take_while(below); }),
                words(in.begin(), end));
      EXPECT_EQ(calls, 2 * asked);
      calls = 0;
      EXPECT_EQ(items_of<std::uint64_t>([&] { return from(in) | drop_while(below); }),
                words(end, in.end()));
      EXPECT_EQ(calls, 2 * asked);
    }
}

TEST_F(taking, passes_byte_strings_and_tuples) {
  auto const in = some_strings(1000);
  EXPECT_EQ(items_of<std::string>([&] { return from(in) | drop(10) | take(20); }),
            std::vector<std::string>(in.begin() + 10, in.begin() + 30));
  auto const first_below = [](std::uint64_t i, std::string_view) { return i < 20; };
  auto const second = [](std::uint64_t, std::string_view s) { return s; };
  auto const made = [&] {
    return zip(counter(std::uint64_t{0}, UINT64_MAX), from(in)) | take_while(first_below) |
           drop_while([](std::uint64_t i, std::string_view) { return i < 10; }) | transform(second);
  };
  EXPECT_EQ(items_of<std::string>(made),
            std::vector<std::string>(in.begin() + 10, in.begin() + 20));
}

/// Numbers. Asking for more than the first `most` is an error.
class exact_stream {
 public:
  exact_stream(std::uint64_t most, std::uint64_t& steps) : most_(most), steps_(&steps) {}
  bool empty() const {
    if (next_ >= most_) throw std::logic_error("asked too far");
    return false;
  }
  std::uint64_t operator*() const { return next_; }
  exact_stream& operator++() {
    if (++next_ >= most_) throw std::logic_error("went too far");
    ++*steps_;
    return *this;
  }

 private:
  std::uint64_t next_ = 0;
  std::uint64_t most_;
  std::uint64_t* steps_;
};

TEST_F(taking, asks_for_nothing_behind_the_last_item) {
  std::uint64_t steps = 0, seen = 0;
  auto const see = [&](std::uint64_t) { ++seen; };
  auto const first_five = [&] {
    return from(exact_stream(5, steps)) | inspect(see) |
           transform([](std::uint64_t x) { return x + 1; }) | take(5);
  };
  EXPECT_EQ(items_of<std::uint64_t>(first_five), (words{1, 2, 3, 4, 5}));
  EXPECT_EQ(steps, 8U);
  EXPECT_EQ(seen, 10U);
  EXPECT_EQ(run(store, zip(first_five(), counter(0, 10)) | count()), 5U);
  EXPECT_EQ(seen, 15U);  // functions see items that nobody looks at
  EXPECT_EQ(run(store, from(exact_stream(0, steps)) | take(0) | count()), 0U);
  EXPECT_EQ(run(store, concat(first_five(), from(words{9, 8, 7}), first_five()) | take(7) |
                           reduce(std::uint64_t{0})),
            32U);
}

TEST_F(taking, ends_flows_between_operators) {
  words const in = some(70'000);
  auto const made = [&] {
    return from(in) | take(50'000) | drop(10) | take(1000) |
           filter([](std::uint64_t x) { return x > 4; }) | take(100);
  };
  words expected;
  std::copy_if(in.begin() + 10, in.begin() + 1010, std::back_inserter(expected),
               [](std::uint64_t x) { return x > 4; });
  expected.resize(100);
  EXPECT_EQ(items_of<std::uint64_t>(made), expected);
}

TEST_F(taking, lets_errors_of_sources_through) {
  auto const fails = [](std::uint64_t at) {
    return [at, next = std::uint64_t{0}]() mutable -> std::optional<std::uint64_t> {
      if (next == at) throw std::runtime_error("no more");
      return next++;
    };
  };
  EXPECT_EQ(run(store, generate(fails(5)) | take(5) | count()), 5U);
  EXPECT_THROW(run(store, generate(fails(5)) | take(6) | count()), flow_error);
  EXPECT_THROW(run(store, generate(fails(5)) | drop(6) | count()), flow_error);
}

TEST_F(taking, knows_how_many_items_come) {
  words const in = some(100);
  auto const size = [](auto flow) { return flow.take_expression().size(); };
  EXPECT_EQ(size(from(in) | take(7)), detail::item_count::exactly(7));
  EXPECT_EQ(size(from(in) | take(700)), detail::item_count::exactly(100));
  EXPECT_EQ(size(from(in) | drop(30)), detail::item_count::exactly(70));
  EXPECT_EQ(size(from(in) | drop(130)), detail::item_count::exactly(0));
  auto const any = [](std::uint64_t) { return true; };
  EXPECT_EQ(size(from(in) | take_while(any)), detail::item_count::up_to(100));
  EXPECT_EQ(size(from(in) | drop_while(any)), detail::item_count::up_to(100));
}

}  // namespace
}  // namespace outsize::stream
