// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Files in order, in the opposite order, and nearly so: the right output, and the bytes it took.

#include <outsize/algorithm/sort/presorted.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <outsize/algorithm/record_sort.hpp>
#include <outsize/algorithm/sort.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize {
namespace {

struct wide {
  std::uint64_t key;
  std::uint64_t order;
  std::uint64_t more;
};

class presorted : public ::testing::Test {
 protected:
  template <typename T>
  void write(std::vector<T> const& items) {
    std::ofstream(in_, std::ios::binary)
        .write(reinterpret_cast<char const*>(items.data()),
               static_cast<std::streamsize>(items.size() * sizeof(T)));
  }

  /// Sorts the items through files and compares with std::stable_sort; whether it was a copy.
  template <typename T, typename Less = std::less<>>
  bool is_copied(std::vector<T> all, Less less = {}, sort_options options = {}) {
    write(all);
    options.memory_bytes = 2_MiB;
    storage store({.disks = {dir_.path()}, .memory = 2_MiB, .threads = 2});
    auto const report = sort(store, items<T>(in_), into(out_), less, options);
    std::stable_sort(all.begin(), all.end(), less);
    std::string const bytes = scratch::read_file(out_);
    EXPECT_EQ(bytes.size(), all.size() * sizeof(T));
    EXPECT_EQ(std::memcmp(bytes.data(), all.data(), bytes.size()), 0);
    EXPECT_EQ(report.items, all.size());
    EXPECT_EQ(report.output_items, all.size());
    EXPECT_EQ(report.input_bytes, bytes.size());
    auto const moved = store.total_statistics();
    if (report.runs == 0) {
      EXPECT_LE(moved.read_bytes, bytes.size() * 3 / 2 + 4_MiB);  // overlaps, and the sample
      EXPECT_LE(moved.write_bytes, bytes.size() + 4096);
    }
    EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
    return report.runs == 0;
  }

  scratch::directory dir_;
  std::string in_ = dir_.path("in");
  std::string out_ = dir_.path("out");
};

/// Ascending numbers of T with some equal neighbours, from the least on.
template <typename T>
std::vector<T> ascending(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<T> all(count);
  for (T& x : all) x = static_cast<T>(random());
  std::sort(all.begin(), all.end());
  for (std::size_t i = 1; i < count; i += 7) all[i] = all[i - 1];
  return all;
}

constexpr std::size_t counts[] = {262'144 + 1, 300'000 + scratch::operations(700'001)};

TEST_F(presorted, numbers_are_copied) {
  for (std::size_t count : counts) {
    EXPECT_TRUE(is_copied(ascending<std::uint64_t>(count)));
    EXPECT_TRUE(is_copied(ascending<std::int64_t>(count)));
    EXPECT_TRUE(is_copied(std::vector<std::uint64_t>(count, 7)));
    EXPECT_TRUE(is_copied(ascending<std::uint32_t>(2 * count + 1)));
  }
}

TEST_F(presorted, numbers_are_turned_round) {
  for (std::size_t count : counts) {
    auto numbers = ascending<std::int64_t>(count);
    EXPECT_TRUE(is_copied(numbers, std::greater<>()));
    std::reverse(numbers.begin(), numbers.end());
    EXPECT_TRUE(is_copied(numbers));
    EXPECT_TRUE(is_copied(numbers, std::greater<>()));
  }
}

TEST_F(presorted, others_are_sorted) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> numbers(300'000);
  for (auto& x : numbers) x = random();
  EXPECT_FALSE(is_copied(numbers));
}

TEST_F(presorted, one_item_out_of_place_is_found_wherever_it_is) {
  auto const good = ascending<std::uint64_t>(300'000);
  for (std::size_t at : {std::size_t{0}, std::size_t{1}, std::size_t{8191}, std::size_t{8192},
                         std::size_t{150'001}, good.size() - 1}) {
    SCOPED_TRACE(at);
    auto numbers = good;
    numbers[at] = at < 10 ? ~std::uint64_t{0} : 0;
    EXPECT_FALSE(is_copied(numbers));
    std::reverse(numbers.begin(), numbers.end());
    EXPECT_FALSE(is_copied(numbers));
  }
}

TEST_F(presorted, items_that_compare_equal_are_not_turned_round) {
  auto const less = [](wide const& a, wide const& b) { return a.key < b.key; };
  std::vector<wide> all(100'001);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {i, i, 0};
  EXPECT_TRUE(is_copied(all, less));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {i / 3, i, 0};
  EXPECT_TRUE(is_copied(all, less));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {all.size() - i, i, 0};
  EXPECT_TRUE(is_copied(all, less));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {(all.size() - i) / 3, i, 0};
  EXPECT_FALSE(is_copied(all, less));
}

TEST_F(presorted, records_by_a_key_are_copied) {
  std::string bytes;
  for (int i = 0; i < 200'000; ++i) bytes += fmt::format("{:07}{:93}", i, "text");
  scratch::write_file(in_, bytes);
  storage store({.disks = {dir_.path()}, .memory = 16_MiB, .threads = 2});
  record_order const order(record_format::parse("bytes:100"), {}, false);
  EXPECT_EQ(sort_records(store, {{in_}, out_}, order).runs, 0U);
  EXPECT_TRUE(scratch::read_file(out_) == bytes);
}

TEST_F(presorted, a_file_can_be_copied_onto_itself) {
  auto numbers = ascending<std::uint64_t>(300'000);
  std::reverse(numbers.begin(), numbers.end());
  write(numbers);
  storage store({.disks = {dir_.path()}, .memory = 2_MiB, .threads = 2});
  EXPECT_EQ(sort(store, items<std::uint64_t>(in_), into(in_)).runs, 0U);
  std::reverse(numbers.begin(), numbers.end());
  std::string const bytes = scratch::read_file(in_);
  ASSERT_EQ(bytes.size(), numbers.size() * 8);
  EXPECT_EQ(std::memcmp(bytes.data(), numbers.data(), bytes.size()), 0);
}

TEST_F(presorted, repeated_items_are_not_copied_when_they_are_to_be_dropped) {
  write(std::vector<std::uint64_t>(300'000, 7));
  storage store({.disks = {dir_.path()}, .memory = 2_MiB, .threads = 2});
  EXPECT_EQ(sort(store, items<std::uint64_t>(in_), into(out_), {}, {.unique = true}).output_items,
            1U);
  EXPECT_EQ(scratch::read_file(out_).size(), 8U);
}

TEST_F(presorted, a_stop_ends_it_and_leaves_no_output) {
  write(ascending<std::uint64_t>(1'000'000));
  storage store({.disks = {dir_.path()}, .memory = 2_MiB, .threads = 2});
  std::stop_source stop;
  sort_options options{.stop = stop.get_token(),
                       .on_progress = [&](sort_progress const&) { stop.request_stop(); }};
  EXPECT_THROW(sort(store, items<std::uint64_t>(in_), into(out_), {}, options), cancelled);
  EXPECT_FALSE(std::ifstream(out_).good());
}

}  // namespace
}  // namespace outsize
