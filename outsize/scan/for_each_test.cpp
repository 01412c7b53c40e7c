// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Visiting and making items: as on a standard vector, for the I/Os of a scan.

#include <outsize/scan/for_each.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <outsize/algorithm/sorter.hpp>
#include <outsize/container/stack.hpp>
#include <outsize/page/page_pool.hpp>
#include <outsize/scan/find.hpp>
#include <outsize/scan/reduce.hpp>
#include <outsize/scan/sort_containers.hpp>
#include <outsize/scan/transform.hpp>
#include <outsize/testing/paged_pair.hpp>

namespace outsize {
namespace {

struct visits : scratch::paged_pairs {};

TEST_F(visits, change_each_item_once) {
  on_many_by_both([](auto const& p, auto policy) {
    auto const twice = [](std::uint64_t& item) { item = 2 * item + 1; };
    for_each(policy, p.first(), p.last(), twice);
    std::for_each(p.plain_first(), p.plain_last(), twice);
  });
}

TEST_F(visits, of_constant_items_see_each_once) {
  on_many_by_both([](auto const& p, auto policy) {
    std::atomic<std::uint64_t> sum{0}, count{0};
    for_each(policy, std::as_const(p.paged), [&](std::uint64_t item) {
      sum += item;
      ++count;
    });
    EXPECT_EQ(count, p.plain.size());
    for (auto const item : p.plain) sum -= item;
    EXPECT_EQ(sum, 0U);
  });
}

TEST_F(visits, are_in_order_and_return_the_function) {
  on_many([](auto const& p) {
    struct list {
      scratch::numbers seen;
      void operator()(std::uint64_t item) { seen.push_back(item); }
    };
    list const all = for_each(std::as_const(p.paged), list());
    EXPECT_EQ(all.seen, p.plain);
  });
}

/// As a distribution does: other containers of the pool take the room of all but what is held.
TEST_F(visits, keep_their_items_while_others_of_the_pool_are_touched) {
  page_pool pool(store, {.page_bytes = 64, .cache_pages = 12, .spare_pages = 2});
  vector<std::uint64_t> v(pool);
  std::vector<stack<std::uint64_t>> buckets;
  for (int i = 0; i < 20; ++i) buckets.emplace_back(pool);
  for (std::uint64_t i = 0; i < 1000; ++i) v.push_back(i * i);
  for_each(v, [&](std::uint64_t& item) {
    for (std::uint64_t k = 0; k < 3; ++k) buckets[(item + 7 * k) % 20].push(item);
    item = ~item;
  });
  for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(std::as_const(v)[i], ~(i * i));
  std::uint64_t count = 0;
  for (auto const& bucket : buckets) count += bucket.size();
  EXPECT_EQ(count, 3000U);
}

TEST_F(visits, fill_a_part) {
  on_many_by_both([](auto const& p, auto policy) {
    fill(policy, p.first(), p.last(), 77);
    std::fill(p.plain_first(), p.plain_last(), 77);
  });
}

TEST_F(visits, generate_in_order) {
  on_many([](auto const& p) {
    auto const from = [](std::uint64_t next) { return [next]() mutable { return next++; }; };
    generate(p.first(), p.last(), from(5));
    std::generate(p.plain_first(), p.plain_last(), from(5));
  });
}

TEST_F(visits, generate_by_several_threads) {
  on_many([](auto const& p) {
    std::atomic<std::uint64_t> next = 5;
    generate(par, p.first(), p.last(), [&] { return next++; });
    scratch::numbers made(p.paged.cbegin() + static_cast<std::ptrdiff_t>(p.begin),
                          p.paged.cbegin() + static_cast<std::ptrdiff_t>(p.end));
    std::ranges::copy(made, p.plain_first());
    std::ranges::sort(made);
    for (std::size_t i = 0; i < made.size(); ++i) ASSERT_EQ(made[i], 5 + i);
  });
}

TEST_F(visits, tabulate_by_index) {
  on_many_by_both([](auto const& p, auto policy) {
    tabulate(policy, p.first(), p.last(), [](std::uint64_t i) { return i * i; });
    for (std::uint64_t i = p.begin; i < p.end; ++i) p.plain[i] = (i - p.begin) * (i - p.begin);
  });
}

TEST_F(visits, cost_a_read_for_each_page_and_a_write_if_it_may_change) {
  auto v = on_disk(100);
  auto reads_before = reads(), writes_before = writes();
  std::uint64_t sum = 0;
  for_each(std::as_const(v), [&](std::uint64_t item) { sum += item; });
  EXPECT_EQ(sum, 800U * 799 / 2);
  EXPECT_LE(reads() - reads_before, 100U);
  EXPECT_GE(reads() - reads_before, 90U);
  EXPECT_EQ(writes(), writes_before);

  reads_before = reads();
  for_each(par, v, [](std::uint64_t& item) { ++item; });
  v.flush();
  EXPECT_LE(reads() - reads_before, 100U);
  EXPECT_GE(writes() - writes_before, 100U);
  EXPECT_LE(writes() - writes_before, 100U + v.live_pages());  // those are flushed again
}

TEST_F(visits, that_replace_all_items_cost_a_write_for_each_page) {
  auto v = on_disk(100);
  for (int i = 0; i < 4; ++i) {
    auto const reads_before = reads(), writes_before = writes();
    if (i == 0) fill(v, 1);
    if (i == 1) fill(par, v, 2);
    if (i == 2) generate(v, [] { return 3; });
    if (i == 3) tabulate(par, v, [](std::uint64_t index) { return index; });
    v.flush();
    EXPECT_EQ(reads(), reads_before);
    EXPECT_LE(writes() - writes_before, 100U + v.live_pages());
    EXPECT_GE(writes() - writes_before, 100U);
  }
}

TEST_F(visits, read_pages_of_which_a_part_is_replaced) {
  auto v = on_disk(100);
  auto const reads_before = reads();
  fill(v.begin() + 4, v.end() - 4, 0);
  EXPECT_LE(reads() - reads_before, 2U);
  EXPECT_EQ(v[3], 3U);
  EXPECT_EQ(v[4], 0U);
  EXPECT_EQ(v[795], 0U);
  EXPECT_EQ(v[796], 796U);
}

TEST_F(visits, throw_what_a_function_throws_and_leave_the_vector_as_large_as_it_was) {
  auto v = on_disk(100);
  auto const fails = [](std::uint64_t& item) {
    if (item == 500) throw std::runtime_error("five hundred");
    item = 1000;
  };
  EXPECT_THROW(for_each(v, fails), std::runtime_error);
  EXPECT_EQ(v[499], 1000U);
  for (std::uint64_t i = 500; i < 800; ++i) ASSERT_EQ(v[i], i);
  fill(v.begin() + 500, v.end(), 500);
  EXPECT_THROW(for_each(par, v, fails), std::runtime_error);
  EXPECT_THROW(generate(v, []() -> std::uint64_t { throw 5; }), int);
  EXPECT_EQ(v.size(), 800U);
  fill(par, v, 9);
  EXPECT_EQ(std::ranges::count(std::as_const(v), 9U), 800);
}

// ---- algorithms within functions of algorithms

/// So many that each thread of the team has an item at the same time.
struct nested_visits : scratch::paged_pairs {
  nested_visits() : scratch::paged_pairs(8_MiB) {}
  vector<std::uint64_t> v = on_disk(8), w = on_disk(8);
  std::uint64_t const sum = 64U * 63 / 2;
};

TEST_F(nested_visits, make_other_passes_in_parallel) {
  for_each(par, v, [&](std::uint64_t& item) {
    item = reduce(par, std::as_const(w), std::uint64_t{0}) +
           static_cast<std::uint64_t>(count_if(par, std::as_const(w), [&](std::uint64_t other) {
             return other == reduce(par, std::as_const(w), std::uint64_t{0});
           }));
  });
  EXPECT_EQ(count(par, v, sum), 64);
  generate(par, v, [&] { return *find(par, std::as_const(w), 7U); });
  EXPECT_EQ(count(par, v, 7U), 64);
  transform(par, v, v.begin(),
            [&](std::uint64_t) { return w.size() + *max_element(par, std::as_const(w)); });
  EXPECT_EQ(count(par, v, 64U + 63U), 64);
  auto const most = [&](std::uint64_t a, std::uint64_t b) {
    return std::max({a, b, *min_element(par, std::as_const(w))});
  };
  EXPECT_EQ(reduce(par, v, std::uint64_t{0}, most), 64U + 63U);
}

TEST_F(nested_visits, sort) {
  std::atomic<std::uint64_t> right{0};
  for_each(par, v, [&](std::uint64_t item) {
    vector<std::uint64_t> mine(store, options(4));
    for (std::uint64_t i = 0; i < 100; ++i) mine.push_back((item + 7 * i) % 100);
    sort(mine, std::greater<>(), {.memory_bytes = 256_KiB, .block_bytes = 4_KiB});
    if (std::ranges::is_sorted(std::as_const(mine), std::greater<>()) && mine.size() == 100)
      ++right;
  });
  EXPECT_EQ(right, 64U);
}

TEST_F(nested_visits, use_a_sorter_whose_team_they_are) {
  sorter<std::uint64_t> numbers(store, {}, {.memory_bytes = 512_KiB, .block_bytes = 4_KiB});
  std::mutex one_at_a_time;
  for_each(par, v, [&](std::uint64_t item) {
    std::lock_guard const lock(one_at_a_time);
    for (std::uint64_t i = 0; i < 3000; ++i) numbers.push(item * 3000 + i);
  });
  std::uint64_t next = 0, wrong = 0;
  for_each(par, v, [&](std::uint64_t) {
    std::lock_guard const lock(one_at_a_time);
    if (next == 0) numbers.sort();
    for (std::uint64_t i = 0; i < 3000; ++i, ++next, ++numbers)
      if (*numbers != next) ++wrong;
  });
  EXPECT_TRUE(numbers.empty());
  EXPECT_EQ(wrong, 0U);
}

TEST_F(nested_visits, of_several_callers_use_one_sorter) {
  sorter<std::uint64_t> numbers(store, {}, {.memory_bytes = 512_KiB, .block_bytes = 4_KiB});
  std::mutex one_at_a_time;
  auto const push_some = [&] {
    vector<std::uint64_t> mine(store, options(4));
    for (std::uint64_t i = 0; i < 64; ++i) mine.push_back(i);
    for_each(par, std::as_const(mine), [&](std::uint64_t) {
      std::lock_guard const lock(one_at_a_time);  // which the others' bodies wait for
      for (std::uint64_t i = 0; i < 3000; ++i) numbers.push(i);
    });
  };
  std::thread second(push_some), third(push_some);
  push_some();
  second.join();
  third.join();
  numbers.sort();
  EXPECT_EQ(numbers.size(), 3U * 64 * 3000);
}

TEST_F(nested_visits, read_the_vector_they_are_in) {
  std::atomic<std::uint64_t> right{0};
  for_each(par, std::as_const(v), [&](std::uint64_t) {
    if (reduce(par, std::as_const(v), std::uint64_t{0}) == sum) ++right;
  });
  EXPECT_EQ(right, 64U);
}

TEST(parallel_sorts, take_orders_that_call_algorithms) {
  scratch::counted_storage disk(8_MiB);
  vector<std::uint64_t> ranks(disk.store, {.page_bytes = 64, .cache_pages = 8});
  for (std::uint64_t i = 0; i < 50; ++i) ranks.push_back(i);
  vector<std::uint64_t> v(disk.store, {.page_bytes = 64, .cache_pages = 8});
  for (std::uint64_t i = 0; i < 300; ++i) v.push_back(i * 37 % 300);
  sort(v, [&](std::uint64_t a, std::uint64_t b) {
    return a + count(par, std::as_const(ranks), 100U) < b + count(par, std::as_const(ranks), 100U);
  });
  for (std::uint64_t i = 0; i < 300; ++i) ASSERT_EQ(std::as_const(v)[i], i);
}

}  // namespace
}  // namespace outsize
