// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// The first records against std::stable_sort and a cut: few that stay in memory, many that do not.

#include <outsize/algorithm/top_sorter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <outsize/base/units.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize {
namespace {

/// Records whose first three bytes collide often.
std::vector<std::string> random_records(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> records(count);
  for (auto& record : records)
    record = fmt::format("{:03}{}{}", random() % 700, std::string(random() % 30, 'x'), random());
  return records;
}

/// By the first three bytes; what follows tells equal records apart.
struct by_beginning {
  std::uint64_t prefix(std::string_view r) const noexcept {
    return byte_order{}.prefix(r.substr(0, 2));
  }
  int compare(std::string_view a, std::string_view b) const noexcept {
    return a.substr(0, 3).compare(b.substr(0, 3));
  }
  bool equal_keys(std::string_view a, std::string_view b) const noexcept {
    return compare(a, b) == 0;
  }
};

std::vector<std::string> model(std::vector<std::string> records, std::size_t count, bool unique) {
  by_beginning const order;
  std::ranges::stable_sort(records,
                           [&](auto const& a, auto const& b) { return order.compare(a, b) < 0; });
  if (unique) {
    auto const rest = std::ranges::unique(
        records, [&](auto const& a, auto const& b) { return order.equal_keys(a, b); });
    records.erase(rest.begin(), rest.end());
  }
  records.resize(std::min(count, records.size()));
  return records;
}

class top_sorter_of : public ::testing::Test {
 protected:
  std::vector<std::string> first(std::vector<std::string> const& records, std::uint64_t count,
                                 bool unique) {
    top_sorter sorter(store_, by_beginning{}, count,
                      {.unique = unique, .memory_bytes = 256_KiB, .block_bytes = 4096});
    for (auto const& record : records) sorter.push(record);
    std::vector<std::string> out;
    for (sorter.sort(); !sorter.empty(); ++sorter) out.emplace_back(*sorter);
    report_ = sorter.report();
    return out;
  }

  storage store_{
      {.disks = {{"memory", [](io::request_queue&) { return io::make_memory_file("memory"); }}},
       .memory_bytes = 256_KiB,
       .threads = 2}};
  sort_report report_;
};

TEST_F(top_sorter_of, any_number_of_records_gives_the_first_in_order) {
  for (std::size_t const size : {0, 1, 5, 700, 20'000}) {
    auto const records = random_records(size, size);
    for (std::uint64_t const count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{10},
                                      std::uint64_t{300}, std::uint64_t{8000}, top_sorter<>::all}) {
      for (bool const unique : {false, true}) {
        EXPECT_TRUE(first(records, count, unique) == model(records, count, unique))
            << count << " of " << size << (unique ? ", unique" : "");
        EXPECT_EQ(report_.items, size);
      }
      EXPECT_EQ(store_.allocated_bytes(), 0U);
    }
  }
}

TEST_F(top_sorter_of, many_records_needs_no_disk_for_few) {
  auto const records = random_records(50'000, 1);
  first(records, 100, false);
  EXPECT_EQ(report_.runs, 0U);
  EXPECT_EQ(report_.output_items, 100U);
  first(records, 20'000, false);
  EXPECT_GT(report_.runs, 1U);
}

TEST_F(top_sorter_of, ever_better_records_keeps_them) {
  std::vector<std::string> records;
  for (int i = 9999; i >= 0; --i) records.push_back(fmt::format("{:04}", i));
  top_sorter sorter(store_, byte_order{}, 3, {.block_bytes = 4096});
  for (auto const& record : records) sorter.push(record);
  sorter.sort();
  EXPECT_EQ(*sorter, "0000");
  EXPECT_EQ(*++sorter, "0001");
}

/// What is kept once in a chunk may be kept many times in the next one: copies of a long record,
/// each noticed where it comes among few others, are sorted behind so many different ones that
/// nobody looks for repetitions any more.
TEST(top_sorter, loses_no_copies_of_a_record_if_they_are_noticed_no_more) {
  storage store(
      {.disks = {{"memory", [](io::request_queue&) { return io::make_memory_file("memory"); }}},
       .memory_bytes = 16_MiB,
       .threads = 2});
  std::uint64_t const count = 110'000;
  std::string const long_one(1000, 'z');
  auto const record = [&](std::uint64_t i) {
    return i % 11 == 10 ? long_one : fmt::format("{:05}", i % 100'000);
  };
  std::vector<std::string> want;
  top_sorter sorter(store, byte_order{}, 1'000'000, {.memory_bytes = 16_MiB});
  for (std::uint64_t i = 0; i < count; ++i) {
    want.push_back(record(i));
    sorter.push(want.back());
  }
  std::ranges::sort(want);
  std::vector<std::string> out;
  for (sorter.sort(); !sorter.empty(); ++sorter) out.emplace_back(*sorter);
  EXPECT_TRUE(out == want) << out.size() << " of " << want.size();
}

TEST_F(top_sorter_of, a_record_longer_than_the_memory_is_refused) {
  top_sorter sorter(store_, byte_order{}, 3, {.block_bytes = 4096});
  sorter.push("short");
  EXPECT_THROW(sorter.push(std::string(300'000, 'x')), budget_error);
}

TEST(top_sorter_death_test, asserts_that_sort_was_called_and_that_it_was_not_moved_from) {
  auto const misuse = [](std::uint64_t count, auto use) {
    storage store(
        {.disks = {{"memory", [](io::request_queue&) { return io::make_memory_file("m"); }}},
         .memory_bytes = 4_MiB,
         .threads = 1});
    top_sorter<> s(store, {}, count);
    s.push("record");
    use(s);
  };
  for (std::uint64_t const count : {std::uint64_t{3}, top_sorter<>::all}) {
    EXPECT_DEATH(misuse(count, [](auto& s) { std::ignore = s.empty(); }), "was not called");
    EXPECT_DEATH(misuse(count, [](auto& s) { std::ignore = *s; }), "was not called");
    EXPECT_DEATH(misuse(count, [](auto& s) { ++s; }), "was not called");
    EXPECT_DEATH(misuse(count,
                        [](auto& s) {
                          s.sort();
                          auto const other = std::move(s);
                          std::ignore = s.empty();
                        }),
                 "was not called|moved from");
    EXPECT_DEATH(misuse(count,
                        [](auto& s) {
                          auto const other = std::move(s);
                          s.push("another");
                        }),
                 "moved from");
  }
}

}  // namespace
}  // namespace outsize
