// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// The record sorter against std::stable_sort: lengths from nothing to much longer than a prefix,
// long common beginnings, in memory and through several runs.

#include <outsize/algorithm/record_sorter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize {
namespace {

std::vector<std::string> random_records(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> records(count);
  for (auto& r : records) {
    if (random() % 2 == 0) r = std::string(random() % 100, 'p');
    for (std::size_t n = random() % 40; n > 0; --n) r += static_cast<char>(random() % 3);
  }
  return records;
}

/// By length only: many records compare equal, and none of their bytes count.
struct by_length {
  std::uint64_t prefix(std::string_view r) const noexcept { return r.size() / 16; }
  int compare(std::string_view a, std::string_view b) const noexcept {
    return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
  }
  bool equal_keys(std::string_view a, std::string_view b) const noexcept {
    return a.size() == b.size();
  }
};

template <typename Order, typename Less>
void expect_sorts(std::size_t count, Order order, Less less) {
  for (std::size_t threads : {1, 3}) {
    storage store(
        {.disks = {{"memory", [](io::request_queue&) { return io::make_memory_file("memory"); }}},
         .memory_bytes = 1_MiB,
         .threads = threads});
    auto records = random_records(count, count + threads);
    record_sorter<Order> sorter(store, order, {.memory_bytes = 256_KiB, .block_bytes = 4096});
    for (auto const& r : records) sorter.push(r);
    EXPECT_EQ(sorter.size(), count);
    std::vector<std::string> out;
    for (sorter.sort(); !sorter.empty(); ++sorter) out.emplace_back(*sorter);
    std::stable_sort(records.begin(), records.end(), less);
    EXPECT_TRUE(out == records) << count << " records, " << threads << " threads";
    EXPECT_EQ(store.allocated_bytes(), 0U);
  }
}

TEST(record_sorter, sorts_by_bytes) {
  for (std::size_t count : {0, 1, 2, 1000, 20000}) expect_sorts(count, byte_order{}, std::less<>());
  expect_sorts(20000, byte_order{.descending = true}, std::greater<>());
}

TEST(record_sorter, keeps_the_input_order_of_equal_records) {
  expect_sorts(20000, by_length{},
               [](std::string const& a, std::string const& b) { return a.size() < b.size(); });
}

/// The first records let it foresee fewer chunks than the later ones fill.
TEST(record_sorter, takes_more_than_was_announced_and_longer_records) {
  for (std::uint64_t const announced : {3'400'000, 3'500'000}) {
    for (std::size_t const threads : {2, 8}) {
      storage store(
          {.disks = {{"memory", [](io::request_queue&) { return io::make_memory_file("memory"); }}},
           .memory_bytes = 5_MiB,
           .threads = threads});
      record_sorter<> sorter(
          store, {}, {.memory_bytes = 4_MiB, .block_bytes = 4096, .input_bytes = announced});
      std::mt19937_64 random(announced);
      std::vector<std::string> records;
      for (std::size_t i = 0; i < 500'000; ++i)
        records.push_back(std::to_string(random()).substr(0, 6));
      for (std::size_t i = 0; i < 15'000; ++i)
        records.push_back(std::to_string(random()) + std::string(280, 'x'));
      for (auto const& r : records) sorter.push(r);
      std::ranges::sort(records);
      std::vector<std::string> out;
      for (sorter.sort(); !sorter.empty(); ++sorter) out.emplace_back(*sorter);
      EXPECT_TRUE(out == records) << announced << " bytes, " << threads << " threads";
    }
  }
}

TEST(record_sorter, merges_no_more_runs_at_once_than_it_may) {
  storage store(
      {.disks = {{"memory", [](io::request_queue&) { return io::make_memory_file("memory"); }}},
       .memory_bytes = 256_KiB,
       .threads = 2});
  auto records = random_records(20'000, 3);
  record_sorter<> sorter(store, {}, {.block_bytes = 4096, .most_fan_in = 2});
  for (auto const& r : records) sorter.push(r);
  std::vector<std::string> out;
  for (sorter.sort(); !sorter.empty(); ++sorter) out.emplace_back(*sorter);
  std::ranges::stable_sort(records);
  EXPECT_TRUE(out == records);
  EXPECT_GT(sorter.report().runs, 4U);
  EXPECT_EQ(sorter.report().fan_in, 2U);
  EXPECT_GT(sorter.report().passes, 2U);
}

TEST(record_sorter, refuses_a_record_longer_than_its_memory) {
  storage store({.memory_bytes = 2_MiB, .threads = 1});
  record_sorter<> sorter(store, {}, {.memory_bytes = store.memory().free_bytes()});
  sorter.push("short");
  try {
    sorter.push(std::string(3_MiB, 'x'));
    FAIL() << "3 MiB were accepted";
  } catch (budget_error const& e) {
    EXPECT_NE(std::string(e.what()).find("3145728"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("with 2 MiB of memory"), std::string::npos) << e.what();
  }
}

TEST(record_sorter, writes_equal_records_of_a_chunk_to_disk_once_if_one_is_enough) {
  for (std::size_t const threads : {1, 3}) {
    storage store(
        {.disks = {{"memory", [](io::request_queue&) { return io::make_memory_file("memory"); }}},
         .memory_bytes = 1_MiB,
         .threads = threads});
    record_sorter<by_length> sorter(store, {},
                                    {.unique = true, .memory_bytes = 256_KiB, .block_bytes = 4096});
    auto records = random_records(20'000, 4);
    for (auto const& r : records) sorter.push(r);
    std::vector<std::string> out;
    for (sorter.sort(); !sorter.empty(); ++sorter) out.emplace_back(*sorter);
    std::ranges::stable_sort(records, {}, &std::string::size);
    records.erase(std::ranges::unique(records, {}, &std::string::size).begin(), records.end());
    EXPECT_TRUE(out == records);
    EXPECT_GT(sorter.report().runs, 3U);
    EXPECT_LE(sorter.report().run_items, sorter.report().runs * (records.size() + threads));
  }
}

TEST(record_sorter_death_test, asserts_that_sort_was_called_and_that_it_was_not_moved_from) {
  auto const misuse = [](auto use) {
    storage store(
        {.disks = {{"memory", [](io::request_queue&) { return io::make_memory_file("m"); }}},
         .memory_bytes = 4_MiB,
         .threads = 1});
    record_sorter<> s(store);
    s.push("record");
    use(s);
  };
  EXPECT_DEATH(misuse([](auto& s) { std::ignore = s.empty(); }), "sort\\(\\) was not called");
  EXPECT_DEATH(misuse([](auto& s) { std::ignore = *s; }), "sort\\(\\) was not called");
  EXPECT_DEATH(misuse([](auto& s) { ++s; }), "sort\\(\\) was not called");
  EXPECT_DEATH(misuse([](auto& s) {
                 s.sort();
                 ++s;
                 ++s;
               }),
               "behind the last one");
  EXPECT_DEATH(misuse([](auto& s) {
                 s.sort();
                 auto const other = std::move(s);
                 std::ignore = s.empty();
               }),
               "moved from");
  EXPECT_DEATH(misuse([](auto& s) {
                 auto const other = std::move(s);
                 s.push("another");
               }),
               "moved from");
}

}  // namespace
}  // namespace outsize
