// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// is_sorted and is_sorted_until against the standard library's, with the disorder at every kind of
// place.

#include <outsize/algorithm/is_sorted.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
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
  std::uint32_t time, user, kind;
};

class order_of_items : public ::testing::Test {
 protected:
  scratch::directory dir_;
  storage store_{{.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = 1}};
  std::string in_ = dir_.path("in");

  template <typename T>
  item_file<T> file_of(std::vector<T> const& all) const {
    scratch::write_items(in_, all);
    return items<T>(in_);
  }
};

TEST_F(order_of_items, ends_at_the_first_item_that_comes_before_the_one_before) {
  std::mt19937_64 random(3);
  for (std::size_t const count : {0, 1, 2, 1000, 200'000}) {
    std::vector<event> all(count);
    for (std::uint32_t i = 0; i < count; ++i) all[i] = {i / 3, i, 0};
    for (int repeat = 0; repeat < 12; ++repeat) {
      auto changed = all;
      // The last one, the first one, any: half of the time to where it is in order all the same.
      std::size_t const at = count == 0    ? 0
                             : repeat == 0 ? count - 1
                             : repeat == 1 ? 0
                                           : random() % count;
      if (repeat < 11 && count > 0)
        changed[at].time = static_cast<std::uint32_t>(random() % (changed[at].time + 2));
      auto const until = std::ranges::is_sorted_until(changed, {}, &event::time);
      auto const want = static_cast<std::uint64_t>(until - changed.begin());
      auto const file = file_of(changed);
      EXPECT_EQ(is_sorted_until(store_, file, by(&event::time)), want) << count << ", " << at;
      EXPECT_EQ(is_sorted_until(store_, changed, by(&event::time)), want);
      EXPECT_EQ(is_sorted(store_, file, by(&event::time)), want == count);
    }
  }
  EXPECT_EQ(store_.memory().free_bytes(), 2_MiB);
}

TEST_F(order_of_items, can_be_any_and_of_a_range_that_is_read_once) {
  std::vector<std::uint64_t> falling(1000);
  std::iota(falling.rbegin(), falling.rend(), 0U);
  EXPECT_FALSE(is_sorted(store_, falling));
  EXPECT_TRUE(is_sorted(store_, falling, std::greater<>()));
  EXPECT_TRUE(is_sorted(store_, file_of(falling), std::greater<>()));
  std::string text;
  for (int i = 0; i < 100; ++i) text += std::to_string(i) + ' ';
  std::istringstream in(text + "98 99");
  EXPECT_EQ(is_sorted_until(store_, std::views::istream<int>(in)), 100U);
}

TEST_F(order_of_items, of_floating_point_is_that_of_sort) {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(is_sorted(store_, std::vector<double>{-nan, -1, -0.0, 0.0, 1, nan}));
  EXPECT_EQ(is_sorted_until(store_, std::vector<double>{1, nan, 2}), 2U);
  EXPECT_EQ(is_sorted_until(store_, std::vector<double>{0.0, -0.0}), 1U);
}

TEST_F(order_of_items, refuses_a_file_cut_short) {
  scratch::write_file(in_, "seventeen bytes..");
  EXPECT_THROW(is_sorted(store_, items<event>(in_), by(&event::time)), format_error);
  EXPECT_THROW(is_sorted(store_, items<event>(dir_.path("none")), by(&event::time)), io_error);
}

}  // namespace
}  // namespace outsize
