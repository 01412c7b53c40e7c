// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Files in order, in the opposite order, and nearly so: the right output, and the bytes it took.

#include <outsize/algorithm/detail/sort/presorted/presorted.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <outsize/algorithm/record_sort.hpp>
#include <outsize/algorithm/sort.hpp>
#include <outsize/block/storage.hpp>
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

  struct outcome {
    bool is_copied;
    /// For each byte of the input, less what the sample and the ends of blocks may take.
    double reads, writes;
  };

  /// Sorts the items through files and compares with std::stable_sort.
  template <typename T, typename Less = std::less<>>
  outcome sorted(std::vector<T> all, Less less = {}, sort_options options = {}) {
    write(all);
    options.memory_bytes = 2_MiB;
    storage store({.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = 2});
    auto const report = sort(store, items<T>(in_), into(out_), less, options);
    std::stable_sort(all.begin(), all.end(), less);
    std::string const bytes = scratch::read_file(out_);
    EXPECT_EQ(bytes.size(), all.size() * sizeof(T));
    EXPECT_TRUE(std::memcmp(bytes.data(), all.data(), bytes.size()) == 0);
    EXPECT_EQ(report.items, all.size());
    EXPECT_EQ(report.output_items, all.size());
    EXPECT_EQ(report.input_bytes, bytes.size());
    EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
    auto const moved = store.total_statistics();
    auto const size = static_cast<double>(bytes.size());
    return {report.runs == 0, (static_cast<double>(moved.read_bytes) - 64 * 16384.) / size,
            (static_cast<double>(moved.write_bytes) - 2 * 16384.) / size};
  }

  /// Whether the items were read and written once, but for some overlap where they are turned
  /// round.
  template <typename T, typename Less = std::less<>>
  bool is_copied(std::vector<T> all, Less less = {}, sort_options options = {}) {
    auto const found = sorted(std::move(all), less, std::move(options));
    if (found.is_copied) {
      EXPECT_LE(found.reads, 1.5);
      EXPECT_LE(found.writes, 1);
    }
    return found.is_copied;
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

TEST_F(presorted, one_item_out_of_place_comes_to_its_place_wherever_it_is) {
  auto const good = ascending<std::uint64_t>(300'000);
  std::size_t combination = 0;
  for (std::size_t at : {std::size_t{0}, std::size_t{1}, std::size_t{2047}, std::size_t{2048},
                         std::size_t{150'001}, good.size() - 1})
    for (std::uint64_t const item : {std::uint64_t{0}, good[good.size() / 2], ~std::uint64_t{0}}) {
      if (combination++ % scratch::one_of(5) != 0) continue;
      SCOPED_TRACE(testing::Message() << item << " at " << at);
      auto numbers = good;
      numbers[at] = item;
      EXPECT_TRUE(sorted(numbers).is_copied);
      std::ranges::reverse(numbers);
      EXPECT_TRUE(sorted(numbers).is_copied);
    }
}

/// Changes the places of items, by less than `distance`.
template <typename T>
void disturb(std::vector<T>& all, std::size_t distance, std::mt19937_64& random) {
  std::vector<std::pair<std::size_t, std::size_t>> places(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) places[i] = {i + random() % distance, i};
  std::ranges::sort(places);
  std::vector<T> const before = all;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = before[places[i].second];
}

TEST_F(presorted, items_near_their_places_are_read_and_written_once) {
  auto const by_key = [](wide const& a, wide const& b) { return a.key < b.key; };
  for (std::size_t const distance : {2U, 30U, 200U}) {
    std::mt19937_64 random(distance);
    auto numbers = ascending<std::uint64_t>(400'000);
    disturb(numbers, distance, random);
    EXPECT_TRUE(is_copied(numbers));
    EXPECT_TRUE(is_copied(numbers, std::greater<>()));
    auto floats = ascending<std::int32_t>(800'001);
    disturb(floats, distance, random);
    EXPECT_TRUE(is_copied(floats));
    std::vector<wide> all(150'001);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = {i / 5, i, 0};
    disturb(all, distance, random);
    EXPECT_TRUE(is_copied(all, by_key));
    std::ranges::reverse(all);
    EXPECT_TRUE(is_copied(all, by_key));
  }
}

TEST_F(presorted, items_that_come_at_the_end_are_merged_from_their_places_on) {
  std::mt19937_64 random(3);
  auto numbers = ascending<std::uint64_t>(500'000);
  for (int i = 0; i < 9'000; ++i) numbers.push_back(numbers[300'000 + random() % 200'000]);
  auto found = sorted(numbers);
  EXPECT_TRUE(found.is_copied);
  EXPECT_LE(found.reads, 1.5);
  EXPECT_LE(found.writes, 1.5);
  std::ranges::reverse(numbers);
  found = sorted(numbers);
  EXPECT_TRUE(found.is_copied);
  EXPECT_LE(found.writes, 1.5);
}

TEST_F(presorted, input_with_too_much_out_of_order_is_sorted) {
  std::mt19937_64 random(4);
  for (double const share : {0.2, 0.9}) {
    auto numbers = ascending<std::uint64_t>(600'000);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (static_cast<double>(random() % 1000) < share * 1000) numbers[i] = random();
    EXPECT_FALSE(sorted(numbers).is_copied);
  }
  // So much in one place that the sample does not see all of it.
  auto numbers = ascending<std::uint64_t>(1'000'000 + scratch::operations(3'000'000));
  auto const middle = numbers.begin() + std::ssize(numbers) / 2 + 100;
  std::generate(middle, middle + 59'900, std::ref(random));
  EXPECT_FALSE(sorted(numbers).is_copied);
}

/// Ascending keys, many of them equal, with items of several kinds out of place.
std::vector<wide> nearly_ordered(std::mt19937_64& random) {
  std::vector<wide> all(100'000 + random() % 100'000);
  std::uint64_t const equals = random() % 3 == 0 ? 1 + random() % 20'000 : 1 + random() % 10;
  for (std::size_t i = 0; i < all.size(); ++i) all[i].key = 1000 + i / equals;
  std::uint64_t const most = all.back().key + 1000;
  if (random() % 2 == 0) std::ranges::reverse(all);
  if (random() % 2 == 0) disturb(all, 1 + random() % 400, random);
  for (std::uint64_t count = random() % 3 == 0 ? 0 : random() % 6000; count > 0; --count)
    all[random() % all.size()].key = random() % most;
  auto const random_key = [&] {
    return std::array{std::uint64_t{0}, most, random() % most}[random() % 3];
  };
  for (std::size_t clumps = random() % 4; clumps > 0; --clumps) {
    std::size_t const begin = random() % all.size(), count = random() % 400;
    auto const key = random_key();
    for (std::size_t i = begin; i < std::min(all.size(), begin + count); ++i)
      all[i].key = clumps == 1 ? random_key() : key;
  }
  for (std::size_t i = 0; i < all.size(); ++i) all[i].order = i;
  return all;
}

TEST_F(presorted, anything_nearly_in_order_comes_out_as_by_a_stable_sort) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  auto const by_key = [](wide const& a, wide const& b) { return a.key < b.key; };
  int copied = 0;
  int const tries = 5 + scratch::operations(35);
  for (int i = 0; i < tries && !HasFailure(); ++i)
    copied += sorted(nearly_ordered(random), by_key).is_copied;
  EXPECT_GE(copied, tries / 13);
}

TEST_F(presorted, items_that_compare_equal_keep_their_order) {
  auto const less = [](wide const& a, wide const& b) { return a.key < b.key; };
  std::vector<wide> all(100'001);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {i, i, 0};
  EXPECT_TRUE(is_copied(all, less));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {i / 3, i, 0};
  EXPECT_TRUE(is_copied(all, less));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {all.size() - i, i, 0};
  EXPECT_TRUE(is_copied(all, less));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {(all.size() - i) / 3, i, 0};
  EXPECT_TRUE(is_copied(all, less));
}

TEST_F(presorted, records_nearly_in_order_come_out_in_order) {
  std::mt19937_64 random(5);
  for (char const* const key : {"0:7", "0:7:bytes:r"}) {
    std::vector<std::string> records;
    for (int i = 0; i < 200'000; ++i)
      records.push_back(fmt::format("{:07}{:86}{:07}", i / 3, "text", i));
    disturb(records, 40, random);
    for (int i = 0; i < 500; ++i)
      std::swap(records[random() % records.size()], records[random() % records.size()]);
    std::string bytes;
    for (auto const& r : records) bytes += r;
    scratch::write_file(in_, bytes);
    record_order const order(record_format::parse("bytes:100"), {record_key::parse(key)}, false);
    storage store({.disks = {dir_.path()}, .memory_bytes = 16_MiB, .threads = 2});
    EXPECT_EQ(sort_records(store, {{in_}, out_}, order).runs, 0U);
    std::ranges::stable_sort(records,
                             [&](auto const& a, auto const& b) { return order.compare(a, b) < 0; });
    std::string expected;
    for (auto const& r : records) expected += r;
    EXPECT_TRUE(scratch::read_file(out_) == expected);
  }
}

TEST_F(presorted, records_by_a_key_are_copied) {
  std::string bytes;
  for (int i = 0; i < 200'000; ++i) bytes += fmt::format("{:07}{:93}", i, "text");
  scratch::write_file(in_, bytes);
  storage store({.disks = {dir_.path()}, .memory_bytes = 16_MiB, .threads = 2});
  record_order const order(record_format::parse("bytes:100"), {}, false);
  EXPECT_EQ(sort_records(store, {{in_}, out_}, order).runs, 0U);
  EXPECT_TRUE(scratch::read_file(out_) == bytes);
}

TEST_F(presorted, a_file_can_be_copied_onto_itself) {
  auto numbers = ascending<std::uint64_t>(300'000);
  std::reverse(numbers.begin(), numbers.end());
  write(numbers);
  storage store({.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = 2});
  EXPECT_EQ(sort(store, items<std::uint64_t>(in_), into(in_)).runs, 0U);
  std::reverse(numbers.begin(), numbers.end());
  std::string const bytes = scratch::read_file(in_);
  ASSERT_EQ(bytes.size(), numbers.size() * 8);
  EXPECT_EQ(std::memcmp(bytes.data(), numbers.data(), bytes.size()), 0);
}

TEST_F(presorted, repeated_items_are_not_copied_when_they_are_to_be_dropped) {
  write(std::vector<std::uint64_t>(300'000, 7));
  storage store({.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = 2});
  EXPECT_EQ(sort(store, items<std::uint64_t>(in_), into(out_), {}, {.unique = true}).output_items,
            1U);
  EXPECT_EQ(scratch::read_file(out_).size(), 8U);
}

TEST_F(presorted, a_stop_ends_it_and_leaves_no_output) {
  write(ascending<std::uint64_t>(1'000'000));
  storage store({.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = 2});
  std::stop_source stop;
  sort_options options{.stop = stop.get_token(),
                       .on_progress = [&](sort_progress const&) { stop.request_stop(); }};
  EXPECT_THROW(sort(store, items<std::uint64_t>(in_), into(out_), {}, options), cancelled);
  EXPECT_FALSE(std::ifstream(out_).good());
}

}  // namespace
}  // namespace outsize
