// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A deque against std::deque, with pages and caches so small that everything leaves all the time;
// its disk space, its iterators.

#include <outsize/container/deque.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <deque>
#include <iterator>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/counted_storage.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/faulty_storage.hpp>

namespace outsize {
namespace {

static_assert(std::random_access_iterator<deque<int>::iterator>);
static_assert(std::random_access_iterator<deque<int>::const_iterator>);

struct deques : testing::Test {
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>();
  std::unique_ptr<storage> store;

  void SetUp() override { make_storage(); }
  void make_storage() {
    auto const open = [this](io::request_queue&) -> io::file_ptr {
      return std::make_unique<io::faulty_file>(io::make_memory_file("memory", 16_MiB), plan);
    };
    store = std::make_unique<storage>(storage_options{
        .disks = {disk_options("memory", open)}, .memory_bytes = 1_MiB, .threads = 1});
  }

  std::uint64_t failures = 0;
  /// Again until it has been done: an access that throws has done nothing.
  template <typename Action>
  auto persist(Action const& action) {
    return scratch::persist(failures, action);
  }

  /// Random operations; for each phase one end, or both, grows or shrinks more often.
  void run_model(std::uint64_t seed, std::size_t cache_pages, int steps) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << cache_pages << " pages");
    std::mt19937_64 random(seed);
    deque<std::uint64_t> d(
        *store,
        {.page_bytes = 48, .cache_pages = cache_pages, .spare_pages = 2, .read_ahead_pages = 3});
    std::deque<std::uint64_t> model;
    kept_iterators kept;
    unsigned push_back = 50, push_front = 50;
    for (int i = 0; i < steps; ++i) {
      if (i % 500 == 0) {
        push_back = static_cast<unsigned>(random() % 101);
        push_front = static_cast<unsigned>(random() % 101);
      }
      auto const item = random();
      auto const index = model.empty() ? 0 : random() % model.size();
      auto const action = random() % 10;
      if (action < 4) {
        if (random() % 100 < push_back || model.empty()) {
          persist([&] { d.push_back(item); });
          model.push_back(item);
        } else {
          persist([&] { ASSERT_EQ(d.back(), model.back()); });
          d.pop_back();
          model.pop_back();
        }
      } else if (action < 8) {
        if (random() % 100 < push_front || model.empty()) {
          persist([&] { d.push_front(item); });
          model.push_front(item);
          --kept.front;
        } else {
          persist([&] { ASSERT_EQ(std::as_const(d).front(), model.front()); });
          d.pop_front();
          model.pop_front();
          ++kept.front;
        }
      } else if (model.empty()) {
        continue;
      } else if (action < 9) {
        auto const other = random() % model.size();
        persist([&] { d[index] = item; });
        model[index] = item;
        persist([&] { std::swap(d[index], d[other]); });
        std::swap(model[index], model[other]);
        if (item % 4 == 0) kept.add(d, index);
      } else if (item % 100 == 0) {
        auto const size = item % 2000 == 0 ? index : model.size() + random() % 50;
        auto const old_size = model.size();
        persist([&] { d.resize(size); });
        model.resize(size, item);
        for (auto k = old_size; k < size; ++k) persist([&] { d[k] = item; });
      } else {
        persist([&] { ASSERT_EQ(std::as_const(d).at(index), model[index]); });
      }
      kept.leave_those_outside(model.size());
      ASSERT_EQ(d.size(), model.size());
      if (i % 10 == 0) use(kept, d, model);
      if (HasFatalFailure()) return;
    }
    for (std::uint64_t i = 0; i < model.size(); ++i)
      persist([&] { ASSERT_EQ(std::as_const(d)[i], model[i]); });
  }

 private:
  /// Iterators at items, by the number of an item if none came or went at the front.
  struct kept_iterators {
    std::vector<std::pair<deque<std::uint64_t>::iterator, std::int64_t>> places = {};
    std::int64_t front = 0;  // the number of the first item

    void add(deque<std::uint64_t>& d, std::uint64_t index) {
      if (places.size() == 8) places.erase(places.begin());
      auto const at = static_cast<std::int64_t>(index);
      places.emplace_back(d.begin() + at, front + at);
    }
    void leave_those_outside(std::uint64_t size) {
      auto const end = front + static_cast<std::int64_t>(size);
      std::erase_if(places,
                    [&](auto const& each) { return each.second < front || each.second >= end; });
    }
  };
  void use(kept_iterators const& kept, deque<std::uint64_t>& d,
           std::deque<std::uint64_t> const& model) {
    for (auto const& [at, number] : kept.places) {
      auto const index = number - kept.front;
      ASSERT_EQ(at - d.begin(), index);
      auto const expected = model[static_cast<std::uint64_t>(index)];
      persist([&] { ASSERT_EQ(*at, expected); });
      deque<std::uint64_t>::const_iterator const fixed = at;
      persist([&] { ASSERT_EQ(*fixed, expected); });
    }
  }
};

TEST_F(deques, behave_as_standard_ones) {
  auto const seed = std::random_device{}();
  for (std::size_t cache : {4U, 6U, 16U})
    run_model(seed + cache, cache, scratch::operations(300'000));
  EXPECT_EQ(failures, 0U);
}

TEST_F(deques, lose_nothing_when_accesses_fail_or_are_late) {
  auto const seed = std::random_device{}();
  plan = std::make_shared<io::fault_plan>(scratch::failing_or_late(seed));
  make_storage();
  run_model(seed, 4, scratch::operations(200'000));
  EXPECT_GT(failures, scratch::operations(100U));
}

TEST_F(deques, notice_nothing_of_accesses_that_are_short_or_late) {
  auto const seed = std::random_device{}();
  plan = std::make_shared<io::fault_plan>(scratch::late(seed));
  make_storage();
  run_model(seed, 4, scratch::operations(200'000));
  EXPECT_EQ(failures, 0U);
  EXPECT_GT(plan->injected(), scratch::operations(1000U));
}

TEST_F(deques, give_space_back_at_both_ends) {
  auto const free_bytes = store->memory().free_bytes();
  {
    deque<std::uint64_t> d(*store, {.page_bytes = 64});
    for (std::uint64_t i = 0; i < 8000; ++i) i % 2 == 0 ? d.push_back(i) : d.push_front(i);
    EXPECT_LE(store->allocated_bytes(), 1002 * 64U);
    for (int i = 0; i < 3000; ++i) {
      d.pop_front();
      d.pop_back();
    }
    EXPECT_EQ(d.size(), 2000U);
    EXPECT_LE(store->allocated_bytes(), (250 + 4) * 64U);
    d.clear();
    EXPECT_EQ(store->allocated_bytes(), 0U);
    d.push_front(5);
    EXPECT_EQ(d.back(), 5U);
  }
  EXPECT_EQ(store->allocated_bytes(), 0U);
  EXPECT_EQ(store->memory().free_bytes(), free_bytes);
}

TEST_F(deques, take_many_items_at_once_as_standard_ones_do) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  page_options const options{.page_bytes = 48, .cache_pages = 5, .spare_pages = 2};
  deque<std::uint64_t> d(*store, options);
  std::deque<std::uint64_t> model;
  for (int i = 0; i < scratch::operations(20'000); ++i) {
    auto const index = static_cast<std::ptrdiff_t>(random() % (model.size() + 1));
    auto const item = random() % 3;
    std::vector<std::uint64_t> const items(random() % 30, random());
    auto const action = random() % 100;
    if (action < 20) {
      d.push_front(item);
      model.push_front(item);
    } else if (action < 35) {
      ASSERT_EQ(d.insert(d.cbegin() + index, items.begin(), items.end()) - d.begin(), index);
      model.insert(model.begin() + index, items.begin(), items.end());
    } else if (action < 45) {
      ASSERT_EQ(*d.emplace(d.cbegin() + index, item), item);
      model.emplace(model.begin() + index, item);
      d.insert(d.cbegin() + index, 9, item);
      model.insert(model.begin() + index, 9, item);
    } else if (action < 80) {
      auto const end = index + static_cast<std::ptrdiff_t>(random() % (model.size() + 1)) / 4;
      auto const until = std::min(end, std::ssize(model));
      ASSERT_EQ(d.erase(d.cbegin() + index, d.cbegin() + until) - d.begin(), index);
      model.erase(model.begin() + index, model.begin() + until);
    } else if (action < 90) {
      auto const size = model.size() * 3 / 4 + random() % 20;
      d.resize(size, item);
      model.resize(size, item);
      d.shrink_to_fit();
    } else if (action < 92) {
      d.assign(items.begin(), items.end());
      model.assign(items.begin(), items.end());
    } else if (!model.empty()) {
      deque<std::uint64_t> other(*store, model, options);
      ASSERT_TRUE(d == other);
      ASSERT_EQ(d <=> other, std::strong_ordering::equal);
      d.back() += 1;
      model.back() += 1;
      ASSERT_TRUE(d != other && d > other);
      auto expected = model.begin();
      for (auto const each : d.forward()) ASSERT_EQ(each, *expected++);
    }
    ASSERT_EQ(d.size(), model.size());
    ASSERT_TRUE(model.empty() || std::as_const(d).front() == model.front());
  }
  ASSERT_TRUE(std::equal(d.cbegin(), d.cend(), model.begin(), model.end()));
  auto reversed = d.backward();
  for (auto item = model.rbegin(); item != model.rend(); ++item, ++reversed)
    ASSERT_EQ(*reversed, *item);
}

TEST_F(deques, may_have_long_pages_of_short_items) {
  storage large(
      {.disks = {disk_options(
           "memory", [](io::request_queue&) { return io::make_memory_file("memory", 1_GiB); })},
       .memory_bytes = 128_MiB,
       .threads = 1});
  deque<std::uint8_t> d(large, {.page_bytes = 16_MiB, .cache_pages = 4, .spare_pages = 1});
  for (std::uint8_t i = 0; i < 10; ++i) {
    d.push_back(i);
    d.push_front(i);
  }
  EXPECT_EQ(d.size(), 20U);
  EXPECT_EQ(d.front(), 9);
  EXPECT_EQ(d.back(), 9);
  std::uint8_t expected = 9;
  for (auto it = d.crbegin(); it < d.crbegin() + 10; ++it) EXPECT_EQ(*it, expected--);
}

TEST(first_pages, leave_room_for_as_many_as_positions_can_number) {
  EXPECT_EQ(detail::first_page_behind(0, 8), 0U);
  EXPECT_EQ(detail::first_page_behind(std::uint64_t{1} << 40, 1 << 20), std::uint64_t{1} << 40);
  EXPECT_EQ(detail::first_page_behind(std::uint64_t{1} << 40, 1 << 30), std::uint64_t{1} << 32);
}

using deque_death_test = deques;

TEST_F(deque_death_test, notices_items_that_are_not_there) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the storage has threads
  deque<std::uint64_t> d(*store, {.page_bytes = 64, .cache_pages = 6});
  EXPECT_DEATH(d.front(), "empty");
  EXPECT_DEATH(d.back(), "empty");
  EXPECT_DEATH(d.pop_front(), "empty");
  d.push_front(1);
  EXPECT_DEATH(d[1] = 1, "index < size");
}

TEST_F(deque_death_test, notices_changes_through_references_that_have_ended) {
  if (!detail::heavy_assertions) GTEST_SKIP() << "checked in debug builds only";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  deque<std::uint64_t> d(*store, {.page_bytes = 64, .cache_pages = 6});
  d.resize(80);
  auto const misuse = [&] {
    auto& old = d.front();
    for (std::uint64_t i = 8; i <= 8 * d.live_pages(); i += 8) d[i] = i;
    old = 5;  // its page is still in the cache, but no longer live
    d.front() = 0;
  };
  EXPECT_DEATH(misuse(), "is_as_sealed|use-after-poison");
}

TEST_F(deques, keep_their_iterators_valid_and_sort) {
  deque<std::uint64_t> d(*store, {.page_bytes = 64, .cache_pages = 4});
  for (std::uint64_t i = 0; i < 500; ++i) d.push_back(i);
  auto const it = d.begin() + 249;
  for (std::uint64_t i = 0; i < 500; ++i) {
    d.push_front(1000 + i);
    if (i % 2 == 0) d.pop_back();
  }
  EXPECT_EQ(*it, 249U);
  EXPECT_EQ(it - d.begin(), 749);
  std::sort(d.begin(), d.end());
  EXPECT_TRUE(std::is_sorted(d.cbegin(), d.cend()));
  EXPECT_EQ(d.front(), 0U);
  EXPECT_EQ(d.back(), 1499U);
  EXPECT_THROW(d.at(750), std::out_of_range);
}

TEST_F(deques, are_walked_backwards_made_in_place_and_swapped) {
  struct point {
    int x, y;
    point(int left, int right) : x(left), y(right) {}
    point() = default;
  };
  deque<point> points(*store, {.page_bytes = 64, .cache_pages = 4});
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(points.emplace_back(i, 1).x, i);
    auto& first = points.emplace_front(-i, 2);
    EXPECT_EQ(first.x, -i);
    first.y = 3;
  }
  EXPECT_EQ(points.front().y, 3);
  EXPECT_EQ(points.back().y, 1);
  int expected = 99;
  for (auto it = points.rbegin(); it != points.rend(); ++it) {
    auto const at = points.rend() - it;  // items not yet seen
    EXPECT_EQ((*it).x, at > 100 ? expected-- : -(100 - static_cast<int>(at)));
  }
  std::vector<int> back;
  std::transform(std::as_const(points).rbegin(), std::as_const(points).rend(),
                 std::back_inserter(back), [](point p) { return p.x; });
  EXPECT_EQ(back.size(), 200U);
  EXPECT_EQ(back.front(), 99);
  EXPECT_EQ(back.back(), -99);

  deque<point> others(*store, {.page_bytes = 64, .cache_pages = 4});
  others.emplace_back(1000, 0);
  auto const it = points.begin() + 150;
  points.swap(others);
  EXPECT_EQ(points.size(), 1U);
  EXPECT_EQ(points.front().x, 1000);
  EXPECT_EQ(others.size(), 200U);
  EXPECT_EQ(it - others.begin(), 150) << "iterators go with their items";
  swap(points, others);
  EXPECT_EQ(points.size(), 200U);
}

struct counted_deques : testing::Test, scratch::counted_storage {
  static constexpr std::uint64_t items = 8000;  // 1000 pages
  deque<std::uint64_t> d{store, {.page_bytes = 64, .cache_pages = 8, .spare_pages = 2}};

  void push(bool at_back, std::uint64_t item) { at_back ? d.push_back(item) : d.push_front(item); }
  std::uint64_t pop(bool at_back) {
    auto const item = at_back ? d.back() : d.front();
    at_back ? d.pop_back() : d.pop_front();
    return item;
  }
};

TEST_F(counted_deques, cost_a_write_for_each_page_pushed_and_a_read_for_each_popped) {
  for (bool const pushes_back : {true, false})
    for (bool const pops_back : {true, false}) {
      SCOPED_TRACE(testing::Message() << pushes_back << ' ' << pops_back);
      auto const written = writes(), read = reads();
      for (std::uint64_t i = 0; i < items; ++i) push(pushes_back, i);
      EXPECT_LE(writes() - written, 1001U);
      EXPECT_GE(writes() - written, 985U);
      EXPECT_EQ(reads(), read);
      for (std::uint64_t i = 0; i < items; ++i)
        ASSERT_EQ(pop(pops_back), pushes_back == pops_back ? items - 1 - i : i);
      EXPECT_LE(reads() - read, 1001U);
      EXPECT_GE(reads() - read, 985U);
      EXPECT_LE(writes() - written, 1001U + 10);  // those that were on their way
    }
}

TEST_F(counted_deques, cost_as_much_at_both_ends_in_turn) {
  for (std::size_t const cache_pages : {8U, 11U, 16U, 24U}) {
    SCOPED_TRACE(cache_pages);
    d = deque<std::uint64_t>(store, {.page_bytes = 64, .cache_pages = cache_pages});
    auto const written = writes(), read = reads();
    for (std::uint64_t i = 0; i < items; ++i) push(i % 2 == 0, i);
    EXPECT_LE(writes() - written, 1002U);
    EXPECT_GE(writes() - written, 950U);
    EXPECT_EQ(reads(), read);
    for (std::uint64_t i = items; i-- > 0;) ASSERT_EQ(pop(i % 2 == 0), i);
    EXPECT_LE(reads() - read, 1002U);
    EXPECT_GE(reads() - read, 950U);
    EXPECT_LE(writes() - written, 1002U + 10);
    EXPECT_LE(d.cache_counts().misses, 10U) << "read ahead at both";
  }
}

TEST_F(counted_deques, cost_a_read_for_an_item_anywhere_and_a_write_if_it_is_changed) {
  for (std::uint64_t i = 0; i < items; ++i) push(i >= items / 2, i >= items / 2 ? i : 3999 - i);
  auto const place = [](std::uint64_t i) { return i * 3001 % items; };  // 375 pages further on
  auto const written = writes();
  for (std::uint64_t i = 0; i < 500; ++i) ASSERT_EQ(std::as_const(d)[place(i)], place(i));
  EXPECT_LE(reads(), 500U);
  EXPECT_GE(reads(), 490U);
  EXPECT_LE(writes(), written + 10);  // changed ones, as they leave
  auto const read = reads(), rewritten = writes();
  for (std::uint64_t i = 0; i < 500; ++i) ++d[place(i)];
  EXPECT_LE(reads() - read, 500U);
  EXPECT_GE(reads() - read, 490U);
  EXPECT_LE(writes() - rewritten, 500U);
  EXPECT_GE(writes() - rewritten, 485U);
}

TEST_F(counted_deques, are_read_ahead_of_pops_at_either_end) {
  for (bool const pops_back : {true, false}) {
    SCOPED_TRACE(pops_back);
    for (std::uint64_t i = 0; i < items; ++i) push(true, i);
    auto const before = d.cache_counts();
    for (std::uint64_t i = 0; i < items; ++i) pop(pops_back);
    EXPECT_GE(d.cache_counts().prefetches - before.prefetches, 985U);
    EXPECT_LE(d.cache_counts().misses - before.misses, 3U);
  }
}

}  // namespace
}  // namespace outsize
