// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// sort_unique against std::sort and std::unique, reduce_by_key against a map, from and to files and
// ranges.

#include <outsize/algorithm/reduce_by_key.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/testing/item_files.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize {
namespace {

struct tally {
  std::uint64_t key;
  std::uint64_t count;
  friend bool operator==(tally const&, tally const&) = default;
};
struct reading {
  std::uint32_t place;
  float low, high;
  friend bool operator==(reading const&, reading const&) = default;
};

constexpr auto add_counts = [](tally a, tally const& b) {
  a.count += b.count;
  return a;
};

class reduction_of : public ::testing::TestWithParam<std::size_t> {
 protected:
  scratch::directory dir_;
  storage store_{{.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = GetParam()}};
  std::string in_ = dir_.path("in");
  std::string out_ = dir_.path("out");

  template <typename T>
  void write(std::vector<T> const& all) const {
    scratch::write_items(in_, all);
  }
  template <typename T>
  std::vector<T> read() const {
    return scratch::read_items<T>(out_);
  }
};

TEST_P(reduction_of, numbers_to_different_ones_is_unique) {
  for (std::size_t count : {0, 1, 5000, 400'000})
    for (std::uint64_t keys : {1, 100, 1'000'000}) {
      std::mt19937_64 random(count + keys);
      std::vector<std::int64_t> all(count);
      for (auto& x : all) x = static_cast<std::int64_t>(random() % keys) - 50;
      write(all);
      auto const report = sort_unique(store_, items<std::int64_t>(in_), into(out_));
      auto want = all;
      std::ranges::sort(want);
      want.erase(std::ranges::unique(want).begin(), want.end());
      EXPECT_EQ(read<std::int64_t>(), want) << count << " items of " << keys << " values";
      EXPECT_EQ(report.items, count);
      EXPECT_EQ(report.output_items, want.size());
      EXPECT_EQ(report.runs > 0, count == 400'000);
      EXPECT_LE(report.run_items, std::min<std::uint64_t>(count, keys * report.runs));
      std::vector<std::int64_t> from_range;
      sort_unique(store_, all, std::back_inserter(from_range));
      EXPECT_EQ(from_range, want);
    }
}

TEST_P(reduction_of, items_to_their_sums_is_what_a_map_says) {
  for (std::size_t count : {0, 1, 5000, 300'000})
    for (std::uint64_t keys : {1, 1000, 1'000'000}) {
      std::mt19937_64 random(count + keys);
      std::vector<tally> all(count);
      std::map<std::uint64_t, std::uint64_t> sums;
      for (auto& t : all) {
        t = {random() % keys, random() % 100};
        sums[t.key] += t.count;
      }
      std::vector<tally> want;
      for (auto const& [key, sum] : sums) want.push_back({key, sum});
      write(all);
      auto const report =
          reduce_by_key(store_, items<tally>(in_), into(out_), by(&tally::key), add_counts);
      EXPECT_TRUE(read<tally>() == want) << count << " items of " << keys << " keys";
      EXPECT_EQ(report.output_items, want.size());
      std::vector<tally> from_range;
      reduce_by_key(store_, all, std::back_inserter(from_range), in_input_order(by(&tally::key)),
                    add_counts);
      EXPECT_TRUE(from_range == want);
    }
}

TEST_P(reduction_of, neighbours_is_in_input_order_where_equal_items_keep_it) {
  std::mt19937_64 random(8);
  std::vector<tally> all(200'000);
  std::map<std::uint64_t, tally> last;
  for (std::uint64_t i = 0; i < all.size(); ++i) {
    all[i] = {random() % 500, i};
    last[all[i].key] = all[i];
  }
  std::vector<tally> kept;
  reduce_by_key(store_, all, std::back_inserter(kept), in_input_order(by(&tally::key)),
                [](tally const&, tally const& later) { return later; });
  EXPECT_TRUE(std::ranges::equal(kept, last, {}, {}, [](auto const& e) { return e.second; }));
}

TEST_P(reduction_of, any_items_by_any_order) {
  std::mt19937 random(9);
  std::vector<reading> all(150'000);
  std::map<std::uint32_t, reading, std::greater<>> want;
  for (auto& r : all) {
    auto const value = static_cast<float>(random() % 1000) / 8;
    r = {static_cast<std::uint32_t>(random() % 3000), value, value};
    auto& w = want.try_emplace(r.place, r).first->second;
    w = {r.place, std::min(w.low, r.low), std::max(w.high, r.high)};
  }
  reduce_by_key(
      store_, all, into(out_), [](auto const& a, auto const& b) { return a.place > b.place; },
      [](reading const& a, reading const& b) {
        return reading{a.place, std::min(a.low, b.low), std::max(a.high, b.high)};
      });
  EXPECT_TRUE(
      std::ranges::equal(read<reading>(), want, {}, {}, [](auto const& e) { return e.second; }));
}

TEST_P(reduction_of, a_file_cut_short_is_refused_and_makes_no_output) {
  scratch::write_file(in_, "seventeen bytes..");
  EXPECT_THROW(reduce_by_key(store_, items<tally>(in_), into(out_), by(&tally::key), add_counts),
               format_error);
  EXPECT_THROW(sort_unique(store_, items<tally>(in_), into(out_), by(&tally::key)), format_error);
  EXPECT_FALSE(std::filesystem::exists(out_));
}

INSTANTIATE_TEST_SUITE_P(threads, reduction_of, ::testing::Values(1, 2, 9));

}  // namespace
}  // namespace outsize
