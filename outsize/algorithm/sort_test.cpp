// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// sort() between files and ranges, against std::stable_sort.

#include <outsize/algorithm/sort.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <outsize/testing/scratch_directory.hpp>

namespace outsize {
namespace {

struct event {
  std::uint64_t time;
  std::uint32_t user, kind;
  friend bool operator==(event const&, event const&) = default;
};

std::vector<event> random_events(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<event> events(count);
  for (std::uint32_t i = 0; i < count; ++i) events[i] = {random() % 1000, i, 7};
  return events;
}

void write_items(std::string const& path, std::vector<event> const& events) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<char const*>(events.data()),
             static_cast<std::streamsize>(events.size() * sizeof(event)));
}

std::vector<event> read_items(std::string const& path) {
  std::string const bytes = scratch::read_file(path);
  std::vector<event> events(bytes.size() / sizeof(event));
  if (!events.empty()) std::memcpy(events.data(), bytes.data(), bytes.size());
  return events;
}

std::vector<event> sorted_by_time(std::vector<event> events) {
  std::stable_sort(events.begin(), events.end(),
                   [](event const& a, event const& b) { return a.time < b.time; });
  return events;
}

class sort_files : public ::testing::Test {
 protected:
  scratch::directory dir_;
  storage store_{{.disks = {dir_.path()}, .memory = 2_MiB, .threads = 2}};
  std::string in_ = dir_.path("events");
  std::string out_ = dir_.path("sorted");
};

TEST_F(sort_files, from_file_to_file) {
  for (std::size_t count : {0, 1, 1000, 300000}) {
    auto const events = random_events(count);
    write_items(in_, events);
    auto const report = sort(store_, items<event>(in_), into(out_), by(&event::time));
    EXPECT_EQ(report.items, count);
    EXPECT_TRUE(read_items(out_) == sorted_by_time(events)) << count;
  }
}

TEST_F(sort_files, onto_themselves) {
  auto const events = random_events(200000);
  write_items(in_, events);
  sort(store_, items<event>(in_), into(in_), by(&event::time));
  EXPECT_TRUE(read_items(in_) == sorted_by_time(events));
}

TEST_F(sort_files, from_a_range_and_to_an_iterator) {
  auto const events = random_events(200000);
  sort(store_, events, into(out_), by(&event::time));
  EXPECT_TRUE(read_items(out_) == sorted_by_time(events));
  std::vector<event> sorted;
  sort(store_, items<event>(out_), std::back_inserter(sorted), by(&event::user));
  EXPECT_TRUE(std::ranges::is_sorted(sorted, {}, &event::user));
  sorted.clear();
  sort(store_, events, std::back_inserter(sorted), by(&event::time));
  EXPECT_TRUE(sorted == sorted_by_time(events));
}

TEST_F(sort_files, by_a_key_that_is_an_integer) {
  auto const events = random_events(200000);
  write_items(in_, events);
  ksort(store_, items<event>(in_), into(out_), &event::time);
  EXPECT_TRUE(read_items(out_) == sorted_by_time(events));
  ksort(store_, events, into(out_), [](event const& e) { return -static_cast<int>(e.user); });
  auto const reversed = read_items(out_);
  EXPECT_TRUE(std::ranges::equal(reversed, std::vector(events.rbegin(), events.rend())));
}

TEST_F(sort_files, refuses_a_record_cut_short_and_makes_no_output) {
  scratch::write_file(in_, "seventeen bytes..");
  EXPECT_THROW(sort(store_, items<event>(in_), into(out_), by(&event::time)), format_error);
  EXPECT_FALSE(std::filesystem::exists(out_));
}

}  // namespace
}  // namespace outsize
