// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Each item comes with its probability, the same ones for the same seed.
#include <outsize/stream/operators/sample.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/take.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/operators/zip.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>

namespace outsize::stream {
namespace {

using words = std::vector<std::uint64_t>;

struct sampling : testing::Test {
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

TEST_F(sampling, lets_a_share_through) {
  auto const numbers = [] { return counter(std::uint64_t{0}, std::uint64_t{100'000}); };
  for (double p : {0.001, 0.25, 0.5, 0.9}) {
    for (std::uint64_t seed : {1U, 2U, 77U}) {
      auto const n = static_cast<double>(run(store, numbers() | sample(p, seed) | count()));
      EXPECT_NEAR(n, 100'000 * p, 5 * std::sqrt(100'000 * p * (1 - p))) << p << " " << seed;
    }
  }
}

TEST_F(sampling, lets_all_or_nothing_through) {
  for (auto n : sizes) {
    words const in = some(n);
    EXPECT_EQ(items_of<std::uint64_t>([&] { return from(in) | sample(1, 5); }), in);
    EXPECT_EQ(items_of<std::uint64_t>([&] { return from(in) | sample(0, 5); }), words());
  }
}

TEST_F(sampling, chooses_the_same_for_the_same_seed) {
  auto const chosen = [&](std::uint64_t seed, std::uint64_t n) {
    return items_of<std::uint64_t>(
        [=] { return counter(std::uint64_t{0}, n) | sample(0.1, seed); });
  };
  EXPECT_EQ(chosen(3, 10'000), chosen(3, 10'000));
  EXPECT_NE(chosen(3, 10'000), chosen(4, 10'000));
  auto const all = chosen(3, 10'000), half = chosen(3, 5'000);
  EXPECT_TRUE(std::equal(half.begin(), half.end(), all.begin()));
}

TEST_F(sampling, ends_early) {
  auto const made = [] {
    return counter(std::uint64_t{0}, UINT64_MAX) | sample(0.01, 1) | take(3);
  };
  EXPECT_EQ(items_of<std::uint64_t>(made).size(), 3U);
}

TEST(sampling_death, refuses_what_is_not_a_probability) {
  EXPECT_DEATH((void)sample(1.5, 1), "probability");
  EXPECT_DEATH((void)sample(-0.5, 1), "probability");
}

}  // namespace
}  // namespace outsize::stream
