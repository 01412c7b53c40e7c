// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// nth_element against std::stable_sort, of files and ranges larger than the memory; the bytes that
// it reads.

#include <outsize/algorithm/nth_element.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/item_files.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize {
namespace {

struct event {
  std::uint32_t time, user, place;
  friend bool operator==(event const&, event const&) = default;
};
struct edge {  // travels as two words
  std::uint64_t from, to;
  friend bool operator==(edge const&, edge const&) = default;
};

class rank_of_items : public ::testing::Test {
 protected:
  scratch::directory dir_;
  storage store_{{.disks = {dir_.path()}, .memory_bytes = 512_KiB, .threads = 2}};
  std::string in_ = dir_.path("in");

  template <typename T>
  item_file<T> file_of(std::vector<T> const& all) const {
    scratch::write_items(in_, all);
    return items<T>(in_);
  }
};

TEST_F(rank_of_items, is_what_a_stable_sort_puts_there) {
  for (std::uint32_t const times : {1U, 10U, 1'000'000U})
    for (std::size_t const count : {1, 1000, 200'000}) {
      std::mt19937 random(times);
      std::vector<event> all(count);
      for (std::uint32_t i = 0; i < count; ++i)
        all[i] = {static_cast<std::uint32_t>(random() % times), i / 2, i};
      auto const file = file_of(all);
      auto sorted = all;
      std::ranges::stable_sort(sorted, {}, &event::time);
      for (std::size_t const rank : {std::size_t{0}, count / 2, count * 2 / 3, count - 1}) {
        EXPECT_EQ(nth_element(store_, file, rank, by(&event::time)), sorted[rank])
            << rank << " of " << count << " of " << times << " times";
        EXPECT_EQ(nth_element(store_, all, rank, by(&event::time)), sorted[rank]);
      }
    }
  EXPECT_EQ(store_.memory().free_bytes(), 512_KiB);
}

TEST_F(rank_of_items, of_two_words_is_what_sort_puts_there) {
  std::mt19937_64 random(5);
  std::vector<edge> all(60'000);
  for (edge& e : all) e = {random() % 100, random()};
  auto sorted = all;
  std::ranges::sort(sorted, {}, [](edge const& e) { return std::pair(e.from, e.to); });
  EXPECT_EQ(nth_element(store_, file_of(all), 30'000, by(&edge::from)), sorted[30'000]);
}

TEST_F(rank_of_items, reads_a_file_twice_and_writes_nothing) {
  std::mt19937_64 random(6);
  std::vector<std::uint64_t> all(300'000);
  for (auto& x : all) x = random();
  auto sorted = all;
  std::ranges::sort(sorted);
  auto const file = file_of(all);
  for (std::size_t const rank : {0, 1000, 150'000, 299'999}) {
    auto const before = store_.total_statistics();
    auto const found = nth_element(store_, file, rank);
    auto const moved = store_.total_statistics() - before;
    EXPECT_EQ(found, sorted[rank]);
    EXPECT_LE(moved.read_bytes, 2 * round_up<std::uint64_t>(all.size() * 8, 4096));
    EXPECT_LE(moved.read_count, 2 * div_up<std::uint64_t>(all.size() * 8, 16_KiB));
    EXPECT_EQ(moved.write_bytes, 0U);
  }
}

TEST_F(rank_of_items, of_what_is_read_once_is_found_by_sorting) {
  std::string text;
  std::mt19937 random(7);
  std::vector<std::uint32_t> all(30'000);
  for (auto& x : all) {
    x = static_cast<std::uint32_t>(random());
    text += std::to_string(x) + ' ';
  }
  std::istringstream in(text);
  auto const found = nth_element(store_, std::views::istream<std::uint32_t>(in), 20'000);
  std::ranges::sort(all);
  EXPECT_EQ(found, all[20'000]);
}

TEST_F(rank_of_items, that_there_is_not_is_an_error) {
  std::vector<int> const three{1, 2, 3};
  EXPECT_THROW(nth_element(store_, three, 3), std::invalid_argument);
  EXPECT_THROW(nth_element(store_, file_of(three), 4), std::invalid_argument);
  EXPECT_THROW(nth_element(store_, std::vector<int>{}, 0), std::invalid_argument);
  std::istringstream in("1 2 3");
  EXPECT_THROW(nth_element(store_, std::views::istream<int>(in), 3), std::invalid_argument);
  scratch::write_file(in_, "seventeen bytes..");
  EXPECT_THROW(nth_element(store_, items<event>(in_), 0, by(&event::time)), format_error);
  EXPECT_THROW(nth_element(store_, three, 0, std::less<>(), {.memory_bytes = 4096}), budget_error);
}

}  // namespace
}  // namespace outsize
