// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Random programs on one to eight threads whose objects share a budget that is hardly enough, or
// not: what is in an object is always what a model says, also after a budget_error; nobody waits
// for ever, and nobody gets more than there is. OUTSIZE_TEST_SECONDS=N goes on for so long.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <outsize/algorithm/record_sorter.hpp>
#include <outsize/algorithm/sort.hpp>
#include <outsize/algorithm/sorter.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/deque.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/unordered_map.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize {
namespace {

using number = std::uint64_t;

/// What one thread does: each step changes or looks at one of its objects, and its model.
class program {
 public:
  program(storage& store, number seed) : store_(store), draw_(seed) {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) try {
        step();
      } catch (budget_error const& error) {  // what was asked for has not happened; some must go
        EXPECT_THAT(error.what(), testing::HasSubstr(" would do: "));
        ++refused;
        sorter_.reset();
        records_.reset();
        if (any(3) == 0) drop_one();
      }
    check_all();
  }

  int refused = 0;

 private:
  number any(number below) { return draw_() % below; }

  void step() {
    switch (any(14)) {
      case 0:
        return drop_one();
      case 1:
        return fill_vector();
      case 2:
        return fill_deque();
      case 3:
        return change_map();
      case 4:
        return change_table();
      case 5:
      case 6:
        return push_to_sorter();
      case 7:
        return read_sorter();
      case 8:
        return sort_vector();
      case 9:
        return check_vector();
      case 10:
        return check_map();
      case 11:
        return push_records();
      case 12:
        return read_records();
      default:
        return check_table();
    }
  }

  void drop_one() {
    switch (any(4)) {
      case 0:
        return vector_.reset(), items_.clear();
      case 1:
        return deque_.reset(), ends_.clear();
      case 2:
        return map_.reset(), entries_.clear();
      default:
        return table_.reset(), pairs_.clear();
    }
  }

  void fill_vector() {
    if (!vector_) vector_.emplace(store_);
    for (number n = any(3000); n > 0; --n) {
      number const x = draw_();
      vector_->push_back(x);
      items_.push_back(x);
    }
    if (items_.empty()) return;
    number const at = any(items_.size()), x = draw_();
    (*vector_)[at] = x;
    items_[at] = x;
  }
  void fill_deque() {
    if (!deque_) deque_.emplace(store_);
    for (number n = any(2000); n > 0; --n) {
      if (any(3) > 0 || ends_.empty()) {
        deque_->push_front(n);
        ends_.push_front(n);
      } else {
        ASSERT_EQ(deque_->back(), ends_.back());
        deque_->pop_back();
        ends_.pop_back();
      }
    }
  }
  void change_map() {
    if (!map_) map_.emplace(store_);
    for (number n = any(500); n > 0; --n) {
      number const key = any(5000), value = draw_();
      if (any(4) == 0) {
        number const erased = map_->erase(key);
        ASSERT_EQ(erased, entries_.erase(key));
      } else {
        map_->insert_or_assign(key, value);
        entries_[key] = value;
      }
    }
  }
  void change_table() {
    if (!table_) table_.emplace(store_);
    for (number n = any(500); n > 0; --n) {
      number const key = any(5000), value = draw_();
      if (any(4) == 0) {
        number const erased = table_->erase(key);
        ASSERT_EQ(erased, pairs_.erase(key));
      } else if (any(2) == 0) {
        table_->insert_oblivious({key, value});
        pairs_[key] = value;
      } else {
        table_->insert_or_assign(key, value);
        pairs_[key] = value;
      }
    }
  }
  void push_to_sorter() {
    if (is_read_) sorter_.reset();
    if (!sorter_) {
      sorter_.emplace(store_);
      pushed_.clear();
      is_read_ = false;
    }
    for (number n = any(30'000); n > 0; --n) {
      number const x = draw_();
      sorter_->push(x);
      pushed_.push_back(x);
    }
  }
  void read_sorter() {
    if (!sorter_) return;
    if (!is_read_) {
      std::ranges::sort(pushed_);
      is_read_ = true;
      sorter_->sort();
      at_ = 0;
    } else if (any(3) == 0) {
      sorter_->rewind();
      at_ = 0;
    }
    for (number n = any(2 * pushed_.size() + 1); n > 0 && !sorter_->empty(); --n, ++*sorter_)
      ASSERT_EQ(**sorter_, pushed_[at_++]);
    ASSERT_TRUE(!sorter_->empty() || at_ == pushed_.size());
  }
  void push_records() {
    if (records_are_read_) records_.reset();
    if (!records_) {
      records_.emplace(store_);
      record_count_ = 0;
      records_are_read_ = false;
    }
    for (number n = any(5'000); n > 0; --n, ++record_count_)
      records_->push(std::string(any(60), 'r') + std::to_string(n));
  }
  /// Some of them, in order, or what is left; perhaps from the first one again.
  void read_records() {
    if (!records_) return;
    if (!std::exchange(records_are_read_, true)) {
      records_->sort();
      records_seen_ = 0;
    } else if (any(3) == 0) {
      records_->rewind();
      records_seen_ = 0;
    }
    std::string last;
    for (number n = any(2 * record_count_ + 1); n > 0 && !records_->empty(); --n, ++*records_) {
      ASSERT_LE(last, **records_);
      last = **records_;
      ++records_seen_;
    }
    ASSERT_TRUE(!records_->empty() || records_seen_ == record_count_);
  }
  void sort_vector() {
    if (!vector_) return;
    vector<number> sorted(store_);
    sort(store_, *vector_, std::back_inserter(sorted));
    auto expected = items_;
    std::ranges::sort(expected);
    ASSERT_TRUE(std::ranges::equal(std::as_const(sorted), expected));
  }

  void check_vector() {
    ASSERT_TRUE(!vector_ || std::ranges::equal(std::as_const(*vector_), items_));
  }
  void check_map() {
    if (!map_) return;
    ASSERT_EQ(map_->size(), entries_.size());
    auto expected = entries_.begin();
    for (auto const& [key, value] : *map_) {
      ASSERT_EQ(key, expected->first);
      ASSERT_EQ(value, (expected++)->second);
    }
  }
  void check_table() {
    if (!table_) return;
    for (int i = 0; i < 50; ++i) {
      number const key = any(5000);
      auto const found = table_->get(key);
      auto const expected = pairs_.find(key);
      ASSERT_EQ(found.has_value(), expected != pairs_.end());
      ASSERT_TRUE(!found || *found == expected->second);
    }
  }
  void check_all() {
    for (int tries = 0; tries < 100; ++tries) try {
        check_vector();
        check_map();
        check_table();
        ASSERT_TRUE(!deque_ || std::ranges::equal(std::as_const(*deque_), ends_));
        return;
      } catch (budget_error const&) {  // others have it for now
        sorter_.reset();
        records_.reset();
        std::this_thread::yield();
      }
  }

  storage& store_;
  std::mt19937_64 draw_;
  std::optional<vector<number>> vector_;
  std::vector<number> items_;
  std::optional<deque<number>> deque_;
  std::deque<number> ends_;
  std::optional<map<number, number>> map_;
  std::map<number, number> entries_;
  std::optional<unordered_map<number, number>> table_;
  std::unordered_map<number, number> pairs_;
  std::optional<sorter<number>> sorter_;
  std::vector<number> pushed_;
  bool is_read_ = false;
  std::size_t at_ = 0;
  std::optional<record_sorter<>> records_;
  number record_count_ = 0, records_seen_ = 0;
  bool records_are_read_ = false;
};

constexpr int steps = 60;

void run_programs(number seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 draw(seed);
  std::uint64_t const memory = (1 + draw() % 24) * (draw() % 2 == 0 ? 512_KiB : 2_MiB);
  std::size_t const thread_count = 1 + draw() % 8;
  storage store({.disks = {disk_options("disk",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("disk", 1_GiB);
                                        })},
                 .memory_bytes = memory,
                 .threads = 1 + draw() % 3});
  std::uint64_t const at_first = store.memory().free_bytes();
  std::vector<std::thread> threads;
  std::atomic<int> refused{0};
  for (std::size_t t = 0; t < thread_count; ++t)
    threads.emplace_back([&store, &refused, of = draw()] {
      program one(store, of);
      one.run(steps);
      refused += one.refused;
    });
  for (auto& each : threads) each.join();
  std::cout << "seed " << seed << ": " << thread_count << " threads, " << format_bytes(memory)
            << ", refused " << refused << " of " << steps * thread_count << std::endl;
  EXPECT_LE(store.memory().peak_bytes(), memory);
  EXPECT_EQ(store.memory().free_bytes(), at_first);
}

TEST(programs, that_share_a_budget_are_right_whatever_it_is) {
  char const* const seconds = std::getenv("OUTSIZE_TEST_SECONDS");
  char const* const given = std::getenv("OUTSIZE_TEST_SEED");
  number seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  auto const end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(seconds != nullptr ? std::atoi(seconds) : 0);
  int left = given != nullptr ? 1 : 8;
  for (; left > 0 || std::chrono::steady_clock::now() < end; --left, ++seed) {
    run_programs(seed);
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace outsize
