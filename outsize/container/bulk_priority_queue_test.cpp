// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A bulk priority queue against sorted vectors: bulks from several threads, limits, phases after
// each other, on disks that fail too.

#include <outsize/container/bulk_priority_queue.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <random>
#include <set>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/counted_storage.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/faulty_storage.hpp>
#include <outsize/testing/tagged_item.hpp>

namespace outsize {
namespace {

using namespace literals;
using scratch::persist;

using number = std::uint64_t;
using numbers = std::vector<number>;
using least_first = bulk_priority_queue<number, std::greater<>>;

constexpr priority_queue_options tiny{.memory_bytes = 256_KiB, .block_bytes = 4096};

/// Takes the least items, at most so many, all less than `limit`.
numbers take(std::multiset<number>& from, std::size_t most, number limit) {
  auto end = from.begin();
  std::size_t count = 0;
  for (; end != from.end() && *end < limit && count < most; ++end) ++count;
  numbers taken(from.begin(), end);
  from.erase(from.begin(), end);
  return taken;
}

class trial {
 public:
  trial(least_first& q, std::uint64_t seed, bool may_fail = false)
      : q_(q), random_(seed), may_fail_(may_fail) {}

  void run(int steps) {
    void (trial::*const kinds[])() = {&trial::push_bulk, &trial::push_bulk, &trial::pop_bulk,
                                      &trial::pop_below, &trial::single,    &trial::limits};
    for (int i = 0; i < steps && !testing::Test::HasFatalFailure(); ++i) {
      (this->*kinds[random_() % std::size(kinds)])();
      ASSERT_EQ(q_.size(), model_.size());
    }
    numbers all;
    while (!q_.empty()) {
      persist(failures_, [&] { q_.bulk_pop(all, 1000); });
      ASSERT_EQ(all, take(model_, all.size(), ~number{0}));
      ASSERT_GT(all.size(), 0U);
    }
    EXPECT_TRUE(model_.empty());
  }

 private:
  number some_number() {
    switch (random_() % 4) {
      case 0:
        return random_() % 1000;
      case 1:
        return model_.empty() ? 0 : *model_.begin() + random_() % 100;
      default:
        return random_() % 1'000'000;
    }
  }
  void push_bulk() {
    std::size_t const threads = random_() % 4;
    std::vector<numbers> of_threads(threads + 1);
    for (auto& all : of_threads)
      for (std::size_t i = random_() % 8000; i > 0; --i) all.push_back(some_number());
    persist(failures_, [&] { q_.bulk_push_begin(1000); });
    std::vector<std::thread> running;
    std::vector<std::uint64_t> failures(threads);
    for (std::size_t t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        for (number const x : of_threads[t]) persist(failures[t], [&] { q_.bulk_push(x); });
      });
    for (number const x : of_threads.back()) persist(failures_, [&] { q_.bulk_push(x); });
    for (auto& t : running) t.join();
    try {
      q_.bulk_push_end();
    } catch (io_error const&) {  // the next call goes on with it
      ++failures_;
    }
    for (auto const f : failures) failures_ += f;
    for (auto const& all : of_threads) model_.insert(all.begin(), all.end());
  }
  void pop_bulk() {
    std::size_t const most = random_() % 10'000;
    persist(failures_, [&] { q_.bulk_pop(got_, most); });
    ASSERT_LE(got_.size(), most);
    if (!may_fail_) {
      ASSERT_EQ(got_.size(), std::min(most, model_.size()));
    }
    ASSERT_EQ(got_, take(model_, got_.size(), ~number{0}));
  }
  void pop_below() {
    number const limit = some_number();
    std::size_t const most = random_() % 5000;
    least_first::limited found{};
    try {
      found = q_.bulk_pop_limit(got_, limit, most);
    } catch (io_error const&) {
      ++failures_;
      return;
    }
    ASSERT_EQ(got_, take(model_, may_fail_ ? got_.size() : most, limit));
    ASSERT_EQ(found.count, got_.size());
    ASSERT_EQ(found.more, !model_.empty() && *model_.begin() < limit);
  }
  void single() {
    for (std::size_t i = random_() % 5000; i > 0; --i) {
      if (random_() % 2 == 0 || model_.empty()) {
        number const x = some_number();
        persist(failures_, [&] { q_.push(x); });
        model_.insert(x);
      } else {
        ASSERT_EQ(persist(failures_, [&] { return q_.top(); }), *model_.begin());
        persist(failures_, [&] { q_.pop(); });
        model_.erase(model_.begin());
      }
    }
  }
  void limits() {
    number const limit = some_number();
    persist(failures_, [&] { q_.limit_begin(limit, 1000); });
    for (;;) {
      number const top = persist(failures_, [&] { return q_.limit_top(); });
      number const expected = model_.empty() || *model_.begin() >= limit ? limit : *model_.begin();
      ASSERT_EQ(top, expected);
      if (!(top < limit)) break;
      persist(failures_, [&] { q_.limit_pop(); });
      model_.erase(model_.begin());
      for (std::size_t i = random_() % 3; i > 0; --i) {
        number const x = limit + random_() % 1000;
        persist(failures_, [&] { q_.limit_push(x); });
        model_.insert(x);
      }
    }
    q_.limit_end();
  }

  least_first& q_;
  std::mt19937_64 random_;
  std::multiset<number> model_;
  numbers got_;
  std::uint64_t failures_ = 0;
  bool may_fail_;  // then fewer items may come than there are
};

struct bulk_priority_queues : testing::Test, scratch::counted_storage {
  bulk_priority_queues() : counted_storage(2_MiB) {}
};

TEST_F(bulk_priority_queues, behave_as_sorted_items) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  least_first q(store, {}, tiny);
  trial(q, seed).run(scratch::operations(150));
}

TEST_F(bulk_priority_queues, lose_nothing_when_accesses_fail_or_are_late) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  scratch::faulty_storage disk(scratch::seldom_failing(seed));
  least_first q(disk.store, {}, tiny);
  trial(q, seed, true).run(60);  // few errors are seen: most calls go on without what failed
}

TEST_F(bulk_priority_queues, end_a_bulk_with_its_scope) {
  least_first q(store, {}, tiny);
  {
    auto bulk = q.push_bulk(10);
    bulk.push(3);
    auto writer = bulk.writer_of_thread();
    writer.push(1);
    writer.push(numbers{5, 4});
  }
  EXPECT_EQ(q.size(), 4U);
  numbers got;
  EXPECT_EQ(q.bulk_pop(got, 3), 3U);
  EXPECT_EQ(got, (numbers{1, 3, 4}));
  q.clear();
  EXPECT_TRUE(q.empty());
}

TEST_F(bulk_priority_queues, keep_equal_items_in_order) {
  using item = scratch::tagged_item;
  bulk_priority_queue<item, scratch::by_key> q(store, {}, tiny);
  std::vector<item> got, expected;
  for (std::uint32_t round = 0; round < 20; ++round) {
    q.bulk_push_begin(2000);
    for (std::uint32_t i = 0; i < 2000; ++i) {
      q.bulk_push({i % 3, round * 2000 + i});
      expected.push_back({i % 3, round * 2000 + i});
    }
    q.bulk_push_end();
    std::ranges::stable_sort(expected, std::greater<>(), &item::key);
    std::size_t const count = q.bulk_pop(got, 700);
    ASSERT_EQ(count, 700U);
    ASSERT_TRUE(std::equal(got.begin(), got.end(), expected.begin()));
    expected.erase(expected.begin(), expected.begin() + 700);
  }
}

TEST_F(bulk_priority_queues, know_about_how_many_items_are_before_a_limit) {
  least_first q(store, {}, tiny);
  q.bulk_push_begin();
  for (number i = 0; i < 100'000; ++i) q.bulk_push(i * 7919 % 100'000);
  q.bulk_push_end();
  auto const reads_before = reads();
  for (number const limit : {0U, 1U, 500U, 50'000U, 99'999U, 100'000U}) {
    number const about = q.count_before(limit), off = about > limit ? about - limit : limit - about;
    EXPECT_LE(off, q.report().arrays * 4096 / sizeof(number) / 2) << limit;
  }
  EXPECT_EQ(reads(), reads_before);
  numbers got;
  auto const found = q.bulk_pop_limit(got, 30'000, ~number{0});
  EXPECT_EQ(found.count, 30'000U);
  EXPECT_FALSE(found.more);
}

TEST_F(bulk_priority_queues, count_items_before_the_bound_that_they_had_before_a_bulk) {
  least_first q(store, {}, tiny);
  for (number i = 0; i < 100'000; ++i) q.push(i * 7919 % 100'000);
  q.bulk_push_begin();
  q.bulk_push_end();
  // The heap had the least items; they are in memory still.
  EXPECT_GE(q.count_before(10), 10U);
  EXPECT_GE(q.count_before(100), 100U);
}

TEST_F(bulk_priority_queues, are_popped_where_the_disk_is_full) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  storage small({.disks = {disk_options("small",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("small", 300_KiB);
                                        })},
                 .memory_bytes = 1_MiB,
                 .threads = 2});
  least_first q(small, {}, tiny);
  std::multiset<number> model;
  int refused = 0;
  for (int round = 0; round < 30; ++round) {
    numbers pushed;
    bool has_begun = false;
    try {
      q.bulk_push_begin();
      has_begun = true;
      for (int i = 0; i < 20'000; ++i) {
        number const x = random() % 100'000;
        q.bulk_push(x);
        pushed.push_back(x);
      }
    } catch (out_of_space const&) {
      ++refused;
    }
    model.insert(pushed.begin(), pushed.end());
    try {
      if (has_begun) q.bulk_push_end();
    } catch (out_of_space const&) {
      ++refused;
    }
    ASSERT_EQ(q.size(), model.size());
    numbers got;
    q.bulk_pop(got, 3000);
    ASSERT_EQ(got, take(model, 3000, ~number{0}));
    number const limit = *model.begin() + 2000;
    auto const found = q.bulk_pop_limit(got, limit, 5000);
    ASSERT_EQ(got, take(model, 5000, limit));
    ASSERT_EQ(found.more, !model.empty() && *model.begin() < limit);
    for (int i = 0; i < 500 && !model.empty(); ++i, model.erase(model.begin()), q.pop())
      ASSERT_EQ(q.top(), *model.begin());
    numbers rest(got);
    q.bulk_pop_limit(rest, *model.begin() + 1 + random() % 10, 50'000);
    for (number const x : rest) model.erase(model.find(x));
    for (int i = 0; i < 100; ++i) try {
        number const x = random() % 100'000;
        q.push(x);
        model.insert(x);
      } catch (out_of_space const&) {
        ++refused;
      }
  }
  EXPECT_GT(refused, 3);
  numbers got;
  while (!q.empty()) {
    q.bulk_pop(got, 10'000);
    ASSERT_EQ(got, take(model, got.size(), ~number{0}));
  }
  EXPECT_TRUE(model.empty());
}

TEST_F(bulk_priority_queues, know_the_core_when_the_items_that_waited_are_gone) {
  for (int odd = 0; odd < 40; ++odd) {
    storage small({.disks = {disk_options("small",
                                          [](io::request_queue&) -> io::file_ptr {
                                            return io::make_memory_file("small", 100_KiB);
                                          })},
                   .memory_bytes = 1_MiB,
                   .threads = 1});
    least_first q(small, {}, tiny);
    // The last bulk, for which there is no room, has the least items.
    number next = 1'000'000, least = next;
    for (bool has_room = true; has_room;) {
      least = next;
      q.bulk_push_begin();
      for (int i = 0; i < 500 + odd; ++i) q.bulk_push(--next);
      try {
        q.bulk_push_end();
      } catch (out_of_space const&) {
        has_room = false;
      }
    }
    numbers got;
    ASSERT_EQ(q.bulk_pop_limit(got, least, least - next).count, least - next);
    try {
      q.push(least + 100'000);
    } catch (out_of_space const&) {
    }
    ASSERT_EQ(q.top(), least) << odd;
  }
}

struct long_item {
  number key;
  number rest[15];
};
struct least_key {
  bool operator()(long_item const& a, long_item const& b) const { return a.key > b.key; }
};

TEST_F(bulk_priority_queues, begin_limits_with_more_items_than_they_keep_in_a_heap) {
  for (number const limit : {0U, 5U, 1000U, 1900U, 2000U, 3000U}) {
    bulk_priority_queue<long_item, least_key> q(store, {}, tiny);
    for (number i = 0; i < 2000; ++i) q.push({i * 7 % 2000, {}});
    q.limit_begin({limit, {}});
    for (number i = 0; i < std::min<number>(limit, 700); ++i, q.limit_pop())
      ASSERT_EQ(q.limit_top().key, i);
    q.limit_push({limit + 5000, {}});
    q.limit_end();
    std::vector<long_item> got;
    for (number next = std::min<number>(limit, 700); !q.empty();) {
      ASSERT_GT(q.bulk_pop(got, 300), 0U);
      for (auto const& item : got) ASSERT_EQ(item.key, next < 2000 ? next++ : limit + 5000);
    }
  }
}

TEST_F(bulk_priority_queues, assert_what_belongs_to_another_phase) {
  least_first q(store, {}, tiny);
  EXPECT_DEATH(q.bulk_push(1), "no bulk was begun");
  EXPECT_DEATH(q.bulk_push_end(), "no bulk was begun");
  EXPECT_DEATH(q.pop(), "empty queue");
  EXPECT_DEATH(q.limit_top(), "does not belong to this phase");
  q.limit_begin(10);
  EXPECT_DEATH(q.limit_push(9), "before the limit");
  EXPECT_DEATH(q.push(11), "does not belong to this phase");
  EXPECT_DEATH(q.limit_pop(), "no item is before the limit");
  q.limit_push(10);
  EXPECT_EQ(q.limit_top(), 10U);
  q.limit_end();
  EXPECT_EQ(q.size(), 1U);
}

}  // namespace
}  // namespace outsize
