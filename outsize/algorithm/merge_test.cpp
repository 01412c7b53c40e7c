// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// merge of files and of ranges against std::stable_sort of them all; inputs that are not sorted.

#include <outsize/algorithm/merge.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>
#include <list>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/item_files.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize {
namespace {

struct small {  // by value through the merge
  std::uint32_t key, input, place;
  friend bool operator==(small const&, small const&) = default;
};
struct large {  // by address
  std::uint32_t key, input, place;
  std::array<std::uint32_t, 7> rest;
  friend bool operator==(large const&, large const&) = default;
};

/// Sorted inputs whose items tell where they were.
template <typename T>
std::vector<std::vector<T>> sorted_inputs(std::size_t count, std::size_t most_items,
                                          std::uint32_t keys) {
  std::mt19937 random(static_cast<unsigned>(count + keys));
  std::vector<std::vector<T>> inputs(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    inputs[i].resize(most_items == 0 ? 0 : random() % most_items);
    std::vector<std::uint32_t> values(inputs[i].size());
    for (auto& value : values) value = static_cast<std::uint32_t>(random() % keys);
    std::ranges::sort(values);
    for (std::uint32_t p = 0; p < values.size(); ++p) {
      inputs[i][p].key = values[p];
      inputs[i][p].input = i;
      inputs[i][p].place = p;
    }
  }
  return inputs;
}

template <typename T>
std::vector<T> model(std::vector<std::vector<T>> const& inputs, bool unique) {
  std::vector<T> all;
  for (auto const& in : inputs) all.insert(all.end(), in.begin(), in.end());
  std::ranges::stable_sort(all, {}, &T::key);
  if (unique) all.erase(std::ranges::unique(all, {}, &T::key).begin(), all.end());
  return all;
}

class merge_of : public ::testing::Test {
 protected:
  scratch::directory dir_;
  storage store_{{.disks = {dir_.path()}, .memory_bytes = 4_MiB, .threads = 2}};
  std::string out_ = dir_.path("out");

  template <typename T>
  std::vector<item_file<T>> write(std::vector<std::vector<T>> const& inputs) const {
    std::vector<item_file<T>> files;
    for (auto const& in : inputs) {
      files.push_back(items<T>(dir_.path(std::to_string(files.size()))));
      scratch::write_items(files.back().path, in);
    }
    return files;
  }
  template <typename T>
  std::vector<T> read() const {
    return scratch::read_items<T>(out_);
  }

  template <typename T>
  void expect_merges(std::size_t count, std::size_t most_items, std::uint32_t keys,
                     sort_options const& options) {
    SCOPED_TRACE(std::to_string(count) + " inputs of " + std::to_string(most_items) + ", " +
                 std::to_string(keys) + " keys, fan-in " + std::to_string(options.most_fan_in));
    auto const inputs = sorted_inputs<T>(count, most_items, keys);
    auto const want = model(inputs, options.unique);
    auto const files = write(inputs);
    auto const report = merge(store_, files, into(out_), by(&T::key), options);
    EXPECT_TRUE(read<T>() == want);
    EXPECT_EQ(report.output_items, want.size());
    std::uint64_t items_in = 0;
    for (auto const& in : inputs) items_in += in.size();
    EXPECT_EQ(report.items, items_in);
    std::vector<T> from_files, from_ranges;
    merge(store_, files, std::back_inserter(from_files), by(&T::key), options);
    EXPECT_TRUE(from_files == want);
    merge(store_, inputs, std::back_inserter(from_ranges), by(&T::key), options);
    EXPECT_TRUE(from_ranges == want);
    EXPECT_EQ(store_.memory().free_bytes(), 4_MiB);
  }
};

TEST_F(merge_of, files_and_ranges_is_that_of_the_model) {
  for (bool const unique : {false, true})
    for (std::size_t const count : {0, 1, 2, 5, 24})
      for (std::uint32_t const keys : {1U, 50U, 1'000'000U}) {
        expect_merges<small>(count, 5000, keys, {.unique = unique, .memory_bytes = 3_MiB});
        expect_merges<large>(count, 1000, keys, {.unique = unique});
      }
}

TEST_F(merge_of, more_files_than_the_memory_or_the_fan_in_allow_is_the_same) {
  for (bool const unique : {false, true}) {
    expect_merges<small>(40, 2000, 50, {.unique = unique, .memory_bytes = 2_MiB});
    expect_merges<small>(5, 60'000, 50,
                         {.unique = unique, .memory_bytes = 2_MiB, .most_fan_in = 4});
    expect_merges<large>(5, 60'000, 50'000,
                         {.unique = unique, .memory_bytes = 2_MiB, .most_fan_in = 3});
  }
}

TEST_F(merge_of, items_that_are_longer_than_blocks) {
  struct huge {
    std::uint32_t key, input, place;
    std::array<std::uint32_t, 50'000> rest;
    bool operator==(huge const&) const = default;
  };
  expect_merges<huge>(3, 8, 5, {.memory_bytes = 2_MiB});
  expect_merges<huge>(3, 8, 5, {.unique = true, .memory_bytes = 2_MiB});
}

TEST_F(merge_of, a_list_may_write_over_one_of_its_files) {
  auto const inputs = sorted_inputs<small>(2, 9000, 1000);
  auto const files = write(inputs);
  merge(store_, {files[0], files[1]}, into(files[1].path), by(&small::key));
  out_ = files[1].path;
  EXPECT_TRUE(read<small>() == model(inputs, false));
}

TEST_F(merge_of, a_list_of_views_in_another_order) {
  std::vector<int> const a{9, 5, 5, 1}, b{8, 5, 2};
  std::vector<int> merged;
  merge(store_, {std::span(a), std::span(b)}, std::back_inserter(merged), std::greater<>());
  EXPECT_EQ(merged, (std::vector<int>{9, 8, 5, 5, 5, 2, 1}));
}

TEST_F(merge_of, floating_point_is_in_the_order_of_sort) {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::vector<double>> const inputs{{-nan, -0.0, 1}, {-1, 0.0, nan}};
  std::vector<double> merged;
  merge(store_, inputs, std::back_inserter(merged));
  ASSERT_EQ(merged.size(), 6U);
  EXPECT_TRUE(std::isnan(merged[0]) && std::isnan(merged[5]));
  EXPECT_TRUE(std::signbit(merged[2]) && merged[2] == 0 && !std::signbit(merged[3]));
}

TEST_F(merge_of, inputs_that_are_not_sorted_is_refused_by_file_and_item) {
  std::mt19937 random(4);
  for (std::size_t const fan_in : {0, 2})  // the latter: by sorting
    for (std::size_t const at : {std::size_t{1}, std::size_t{777}, std::size_t{59'999}}) {
      auto inputs = sorted_inputs<small>(3, 0, 1);
      for (auto& in : inputs) in.assign(60'000, small{7, 0, 0});
      inputs[1][at].key = 6;
      if (at + 1 < 60'000) inputs[1][at + 1].key = 8;
      auto const files = write(inputs);
      try {
        merge(store_, files, into(out_), by(&small::key),
              {.memory_bytes = 2_MiB, .most_fan_in = fan_in});
        ADD_FAILURE() << at;
      } catch (format_error const& e) {
        EXPECT_EQ(std::string(e.what()), files[1].path + ": not sorted: item " +
                                             std::to_string(at) + " comes before item " +
                                             std::to_string(at - 1));
      }
      EXPECT_FALSE(std::filesystem::exists(out_));
      std::vector<small> merged;
      EXPECT_THROW(merge(store_, inputs, std::back_inserter(merged), by(&small::key)),
                   format_error);
    }
  EXPECT_EQ(store_.memory().free_bytes(), 4_MiB);
  EXPECT_EQ(store_.allocated_bytes(), 0U);
}

TEST_F(merge_of, files_cut_short_or_missing_makes_no_output) {
  scratch::write_file(dir_.path("0"), "seventeen bytes..");
  EXPECT_THROW(merge(store_, {items<small>(dir_.path("0"))}, into(out_), by(&small::key)),
               format_error);
  EXPECT_THROW(merge(store_, {items<small>(dir_.path("none"))}, into(out_), by(&small::key)),
               io_error);
  EXPECT_FALSE(std::filesystem::exists(out_));
}

TEST_F(merge_of, anything_can_be_stopped) {
  std::stop_source stop;
  stop.request_stop();
  std::vector<std::vector<int>> const inputs(3, std::vector<int>(40'000, 1));
  std::vector<int> merged;
  EXPECT_THROW(
      merge(store_, inputs, std::back_inserter(merged), std::less<>(), {.stop = stop.get_token()}),
      cancelled);
}

}  // namespace
}  // namespace outsize
