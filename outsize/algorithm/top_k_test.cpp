// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// top_k against std::stable_sort cut short: few items, which need no disk, and so many that they
// do.

#include <outsize/algorithm/top_k.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/item_files.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize {
namespace {

struct event {
  std::uint32_t time, place;
  std::uint8_t kind;
  friend bool operator==(event const&, event const&) = default;
};

class first_of_items : public ::testing::TestWithParam<std::size_t> {
 protected:
  scratch::directory dir_;
  storage store_{{.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = GetParam()}};
  std::string in_ = dir_.path("in");
  std::string out_ = dir_.path("out");

  template <typename T>
  item_file<T> file_of(std::vector<T> const& all) const {
    scratch::write_items(in_, all);
    return items<T>(in_);
  }
  template <typename T>
  std::vector<T> read() const {
    return scratch::read_items<T>(out_);
  }
};

TEST_P(first_of_items, are_those_of_a_stable_sort) {
  for (bool const unique : {false, true})
    for (std::uint32_t const times : {3U, 1'000'000'000U})
      for (std::size_t const size : {0, 1, 250'000}) {
        std::mt19937 random(times);
        std::vector<event> all(size);
        for (std::uint32_t i = 0; i < size; ++i)
          all[i] = {static_cast<std::uint32_t>(random() % times), i, static_cast<std::uint8_t>(i)};
        auto const file = file_of(all);
        auto sorted = all;
        std::ranges::stable_sort(sorted, {}, &event::time);
        if (unique)
          sorted.erase(std::ranges::unique(sorted, {}, &event::time).begin(), sorted.end());
        for (std::uint64_t const count : {0U, 1U, 20'000U, 200'000U}) {
          auto want = sorted;
          want.resize(std::min<std::size_t>(want.size(), count));
          auto const report =
              top_k(store_, file, into(out_), count, by(&event::time), {.unique = unique});
          EXPECT_TRUE(read<event>() == want)
              << count << " of " << size << " of " << times << " times";
          EXPECT_EQ(report.output_items, want.size());
          EXPECT_EQ(report.items, count == 0 ? 0 : size);
          if (count <= 20'000) {
            EXPECT_EQ(report.runs, 0U);
          }
          std::vector<event> from_range;
          top_k(store_, all, std::back_inserter(from_range), count, by(&event::time),
                {.unique = unique});
          EXPECT_TRUE(from_range == want);
        }
      }
  EXPECT_EQ(store_.memory().free_bytes(), 2_MiB);
  EXPECT_EQ(store_.allocated_bytes(), 0U);
}

TEST_P(first_of_items, of_numbers_in_any_order) {
  std::mt19937_64 random(4);
  std::vector<double> all(500'000);
  for (auto& x : all) x = static_cast<double>(static_cast<std::int64_t>(random())) / 1e9;
  all[7] = -0.0;
  std::vector<double> first;
  auto const report =
      top_k(store_, file_of(all), std::back_inserter(first), 1000, std::greater<>());
  std::ranges::sort(all, std::greater<>());
  all.resize(1000);
  EXPECT_EQ(first, all);
  EXPECT_EQ(report.runs, 0U);
  EXPECT_EQ(report.input_bytes, 4'000'000U);
}

TEST_P(first_of_items, fail_as_a_sort_does) {
  scratch::write_file(in_, "seventeen bytes..");
  EXPECT_THROW(top_k(store_, items<event>(in_), into(out_), 3, by(&event::time)), format_error);
  EXPECT_THROW(top_k(store_, items<event>(dir_.path("none")), into(out_), 3, by(&event::time)),
               io_error);
  EXPECT_FALSE(std::filesystem::exists(out_));
  std::vector<int> const numbers(10);
  EXPECT_THROW(top_k(store_, numbers, into(out_), 3, std::less<>(), {.memory_bytes = 4096}),
               budget_error);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(top_k(store_, numbers, into(out_), 3, std::less<>(), {.stop = stop.get_token()}),
               cancelled);
}

INSTANTIATE_TEST_SUITE_P(threads, first_of_items, ::testing::Values(1, 2));

}  // namespace
}  // namespace outsize
