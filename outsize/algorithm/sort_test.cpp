// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// sort() between files and ranges, against std::stable_sort.

#include <outsize/algorithm/sort.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <outsize/algorithm/merge.hpp>
#include <outsize/algorithm/reduce_by_key.hpp>
#include <outsize/algorithm/top_k.hpp>
#include <outsize/base/error.hpp>
#include <outsize/block/storage.hpp>
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
  storage store_{{.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = 2}};
  std::string in_ = dir_.path("events");
  std::string out_ = dir_.path("sorted");
};

TEST_F(sort_files, in_place_keep_what_somebody_else_has_written_meanwhile) {
  storage store({.disks = {dir_.path()},
                 .memory_bytes = 3_MiB,
                 .threads = 2,
                 .on_growth = [](std::string const&) {}});
  auto const shuffled = random_events(200'000);
  write_items(out_, sorted_by_time(random_events(10)));
  auto const file = items<event>(in_);
  using order = std::function<bool(event const&, event const&)>;
  using work = std::function<void(order const&)>;
  std::vector<work> const all{[&](order const& less) { sort(store, file, into(in_), less); },
                              [&](order const& less) { sort_unique(store, file, into(in_), less); },
                              [&](order const& less) { top_k(store, file, into(in_), 5, less); },
                              [&](order const& less) {
                                merge(store, {file, items<event>(out_)}, into(in_), less);
                              }};
  for (bool is_sorted : {false, true}) {
    for (auto const& one : std::span(all).first(is_sorted ? 4 : 3)) {
      write_items(in_, is_sorted ? sorted_by_time(shuffled) : shuffled);
      std::atomic<bool> has_changed = false;
      auto const change = [&] {
        if (is_sorted) std::filesystem::remove(in_);
        std::ofstream(in_, std::ios::app) << "0123456789abcdef";
      };
      auto const less = [&](event const& a, event const& b) {
        if (!has_changed && !has_changed.exchange(true)) change();
        return a.time < b.time;
      };
      EXPECT_THROW(one(less), changed_file);
      EXPECT_EQ(scratch::read_file(in_).size(), 16 + (is_sorted ? 0 : 16 * shuffled.size()));
    }
  }
  EXPECT_EQ(dir_.names().size(), 2U);
}

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

struct alignas(64) line {
  std::uint64_t key;
};

/// By key, and says whether all items were where their type asks.
struct by_key_of_lines {
  std::atomic<bool>* aligned;
  bool operator()(line const& a, line const& b) const {
    for (line const* one : {&a, &b})
      if (reinterpret_cast<std::uintptr_t>(one) % alignof(line) != 0) *aligned = false;
    return a.key < b.key;
  }
};

TEST_F(sort_files, of_items_that_ask_for_an_alignment) {
  std::vector<line> lines(100'000);
  std::mt19937_64 random(3);
  for (line& one : lines) one.key = random();
  auto const less = [](line const& a, line const& b) { return a.key < b.key; };
  for (bool const in_order : {false, true}) {
    if (in_order) std::ranges::sort(lines, less);
    auto const bytes = std::as_bytes(std::span(lines));
    scratch::write_file(in_, {reinterpret_cast<char const*>(bytes.data()), bytes.size()});
    std::atomic<bool> aligned{true};
    sort(store_, items<line>(in_), into(out_), by_key_of_lines{&aligned});
    EXPECT_TRUE(aligned) << in_order;
    std::vector<line> sorted;
    sort(store_, items<line>(out_), std::back_inserter(sorted), by_key_of_lines{&aligned});
    EXPECT_TRUE(std::ranges::is_sorted(sorted, less));
    EXPECT_EQ(sorted.size(), lines.size());
  }
}

TEST_F(sort_files, refuse_memory_that_is_too_little_to_read_them) {
  write_items(in_, random_events(1000));
  std::vector<event> sorted;
  for (std::uint64_t const memory : {4_KiB, 64_KiB})
    EXPECT_THROW(sort(store_, items<event>(in_), std::back_inserter(sorted), by(&event::time),
                      {.memory_bytes = memory}),
                 budget_error);
  EXPECT_TRUE(sorted.empty());
}

// ---- numbers in memory ----

/// With and without memory for a copy of them.
std::vector<std::size_t> few_and_many() { return {0, 1, 1000, 100'000, 400'000}; }

TEST_F(sort_files, numbers_where_they_lie) {
  for (std::size_t const count : few_and_many()) {
    std::mt19937_64 random(count);
    std::vector<std::int64_t> numbers(count);
    for (auto& number : numbers) number = static_cast<std::int64_t>(random());
    auto want = numbers;
    std::ranges::sort(want, std::greater<>());
    auto const report = sort(store_, numbers, numbers.begin(), std::greater<>());
    EXPECT_TRUE(numbers == want) << count;
    EXPECT_EQ(report.items, count);
    EXPECT_EQ(report.output_items, count);
    EXPECT_EQ(report.runs > 0, count * sizeof(std::int64_t) > 2_MiB);
  }
}

TEST_F(sort_files, floating_point_to_another_place) {
  for (std::size_t const count : few_and_many()) {
    std::mt19937_64 random(count);
    std::vector<double> numbers(count), sorted(count + 1, 0.5);
    for (auto& number : numbers) number = std::normal_distribution<>()(random);
    auto want = numbers;
    std::ranges::sort(want);
    sort(store_, std::as_const(numbers), sorted.begin());
    EXPECT_TRUE(std::ranges::equal(std::span(sorted).first(count), want)) << count;
    EXPECT_EQ(sorted.back(), 0.5);
  }
}

TEST_F(sort_files, numbers_to_where_some_of_them_lie) {
  std::vector<std::uint32_t> numbers(50'000);
  for (std::uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i * 7919 % 50'000;
  std::vector<std::uint32_t> want(numbers.begin(), numbers.end() - 10);
  std::ranges::sort(want);
  sort(store_, std::span(numbers).first(want.size()), numbers.begin() + 10);
  EXPECT_TRUE(std::ranges::equal(std::span(numbers).subspan(10), want));
}

TEST_F(sort_files, events_by_time_where_they_lie) {
  auto events = random_events(100'000);
  auto const want = sorted_by_time(events);
  sort(store_, events, events.begin(), in_input_order(by(&event::time)));
  EXPECT_TRUE(events == want);
}

TEST_F(sort_files, numbers_in_memory_made_one) {
  std::vector<std::uint64_t> numbers(100'000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i % 1000;
  auto const report = sort(store_, numbers, numbers.begin(), std::less<>(), {.unique = true});
  EXPECT_EQ(report.output_items, 1000U);
  EXPECT_TRUE(std::ranges::is_sorted(std::span(numbers).first(1000)));
}

TEST_F(sort_files, numbers_in_memory_stay_where_they_are_if_a_stop_was_requested) {
  std::vector<std::uint64_t> numbers{3, 1, 2};
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(sort(store_, numbers, numbers.begin(), std::less<>(), {.stop = stop.get_token()}),
               cancelled);
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{3, 1, 2}));
}

TEST_F(sort_files, numbers_in_memory_with_progress_that_ends) {
  std::vector<std::uint64_t> numbers(1000, 5);
  sort_progress last;
  sort(store_, numbers, numbers.begin(), std::less<>(),
       {.on_progress = [&](sort_progress const& p) { last = p; }});
  EXPECT_EQ(last.now, sort_progress::phase::done);
  EXPECT_EQ(last.done_bytes, last.total_bytes);
}

}  // namespace
}  // namespace outsize
