// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A priority queue against std::priority_queue of items and their ages, of all kinds of items, with
// little memory, also on disks that fail or are late; and its I/Os against the bound.

#include <outsize/container/priority_queue.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <random>
#include <stdexcept>
#include <type_traits>
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
using scratch::by_key;
using scratch::persist;
using scratch::tagged_item;

struct big_item {
  std::uint64_t key;
  std::array<std::uint64_t, 12> rest;
  friend bool operator==(big_item const&, big_item const&) = default;
};
struct big_less {
  bool operator()(big_item const& a, big_item const& b) const { return a.key < b.key; }
};
struct event {
  std::uint64_t time;
  std::uint64_t what;
  friend bool operator==(event const&, event const&) = default;
};

// Items with a key and a tag.
void make(std::uint64_t key, std::uint64_t, std::uint64_t& to) { to = key; }
void make(std::uint64_t key, std::uint64_t, std::uint32_t& to) {
  to = static_cast<std::uint32_t>(key >> 32);
}
void make(std::uint64_t key, std::uint64_t, double& to) {
  constexpr double odd[] = {std::numeric_limits<double>::quiet_NaN(), -0.0, 0.0,
                            -std::numeric_limits<double>::infinity()};
  to = key % 16 < 4 ? odd[key % 4] : static_cast<double>(static_cast<std::int64_t>(key)) / 3;
}
void make(std::uint64_t key, std::uint64_t tag, tagged_item& to) {
  to = {static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(tag)};
}
void make(std::uint64_t key, std::uint64_t tag, event& to) { to = {key, tag}; }
void make(std::uint64_t key, std::uint64_t tag, big_item& to) {
  to = {key, {}};
  to.rest.fill(tag);
}

/// The greatest item comes out first, the oldest of equal ones.
template <typename T, typename Less>
class model {
 public:
  explicit model(Less less) : items_(order{std::move(less)}) {}
  void push(T const& item) { items_.push({item, age_++}); }
  void pop() { items_.pop(); }
  T top() const { return items_.top().first; }
  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }

 private:
  using entry = std::pair<T, std::uint64_t>;
  struct order {
    Less less;
    bool operator()(entry const& a, entry const& b) const {
      if (less(a.first, b.first)) return true;
      return !less(b.first, a.first) && a.second > b.second;
    }
  };
  std::priority_queue<entry, std::vector<entry>, order> items_;
  std::uint64_t age_ = 0;
};

template <typename T>
bool same(T const& a, T const& b) {
  if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  else
    return a == b;
}

constexpr priority_queue_options tiny{.memory_bytes = 256_KiB, .block_bytes = 4096};

/// How keys follow each other.
enum class keys : std::uint8_t { random, few, equal, ascending, descending, monotone };
constexpr keys all_keys[] = {keys::random,    keys::few,        keys::equal,
                             keys::ascending, keys::descending, keys::monotone};

class key_source {
 public:
  key_source(keys kind, std::mt19937_64& random) : kind_(kind), random_(random) {}
  /// After `current` was popped.
  std::uint64_t next(std::uint64_t current) {
    ++count_;
    switch (kind_) {
      case keys::random:
        return random_();
      case keys::few:
        return random_() % 7 << 40;
      case keys::equal:
        return std::uint64_t{5} << 40;
      case keys::ascending:
        return count_ << 34;
      case keys::descending:
        return ~(count_ << 34);
      case keys::monotone:
        break;
    }
    return current - std::min(current, random_() % (std::uint64_t{1} << 50));
  }

 private:
  keys kind_;
  std::mt19937_64& random_;
  std::uint64_t count_ = 0;
};

std::uint64_t key_of(std::uint64_t item) { return item; }
std::uint64_t key_of(std::uint32_t item) { return std::uint64_t{item} << 32; }
std::uint64_t key_of(double item) { return item > 0 ? static_cast<std::uint64_t>(item) : 1; }
std::uint64_t key_of(tagged_item const& item) { return std::uint64_t{item.key} << 32; }
std::uint64_t key_of(event const& item) { return item.time; }
std::uint64_t key_of(big_item const& item) { return item.key; }

/// Random phases of more pushes or more pops; `expected` orders equal items as the model does.
/// Returns how often an access failed.
template <typename T, typename Queue, typename Less>
std::uint64_t run_model(Queue& q, Less expected, keys kind, std::mt19937_64& random,
                        std::uint64_t most_items) {
  model<T, Less> m(expected);
  key_source source(kind, random);
  std::uint64_t failures = 0, tag = 0, current = UINT64_MAX;
  auto const push = [&] {
    T item;
    make(source.next(current), tag++, item);
    persist(failures, [&] { q.push(item); });
    m.push(item);
  };
  auto const pop = [&] {
    T const top = persist(failures, [&]() -> T { return q.top(); });
    ASSERT_TRUE(same(top, m.top())) << "item " << tag << " of " << m.size();
    current = key_of(top);
    persist(failures, [&] { q.pop(); });
    m.pop();
  };
  for (int phase = 0; phase < 6; ++phase) {
    auto const pushes = phase == 0 ? 100 : random() % 101;
    for (std::uint64_t i = 0; i < most_items && !testing::Test::HasFatalFailure(); ++i) {
      if (random() % 100 < pushes || m.empty())
        push();
      else
        pop();
    }
    EXPECT_EQ(q.size(), m.size());
  }
  while (!m.empty() && !testing::Test::HasFatalFailure()) pop();
  EXPECT_TRUE(q.empty());
  return failures;
}

/// Two-word items by a member come out in the order of their other word.
struct event_words {
  bool operator()(event const& a, event const& b) const {
    return a.time != b.time ? a.time < b.time : a.what > b.what;
  }
};
struct total_less {
  bool operator()(double a, double b) const { return std::strong_order(a, b) < 0; }
};

struct priority_queues : testing::Test, scratch::counted_storage {
  priority_queues() : counted_storage(2_MiB) {}

  std::uint64_t seed = std::random_device{}();
  std::mt19937_64 random{seed};

  template <typename T, typename Less = std::less<>, typename Expected = Less>
  void check(Less less = {}, Expected expected = {}) {
    for (keys const kind : all_keys) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", keys " << static_cast<int>(kind));
      random.seed(seed);
      priority_queue<T, Less> q(store, less, tiny);
      run_model<T>(q, expected, kind, random, scratch::operations(480'000U / sizeof(T)));
      if (HasFatalFailure()) return;
    }
  }
};

TEST_F(priority_queues, of_numbers) {
  check<std::uint64_t>();
  check<std::uint64_t, std::greater<>>();
  check<std::uint32_t, std::greater<>>();
}
TEST_F(priority_queues, of_floating_point) { check<double, std::less<>, total_less>(); }
TEST_F(priority_queues, of_items_whose_equals_differ) { check<tagged_item, by_key>(); }
TEST_F(priority_queues, of_large_items) { check<big_item, big_less>(); }
TEST_F(priority_queues, by_a_member) {
  check<event>(in_input_order(by(&event::time)), by(&event::time));
  check<event>(by(&event::time), event_words());
  check<big_item>(by(&big_item::key), big_less());
}

TEST_F(priority_queues, lose_nothing_when_accesses_fail_or_are_late) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  scratch::faulty_storage disk(scratch::seldom_failing(seed));
  for (keys const kind : all_keys) {
    priority_queue<tagged_item, by_key> q(disk.store, {}, tiny);
    run_model<tagged_item>(q, by_key(), kind, random, scratch::operations(30'000U));
    if (HasFatalFailure()) return;
  }
}

/// Compares as long as it may.
struct failing_order {
  static inline std::atomic<int> calls_left = 0;  // from any thread

  template <typename T>
  bool operator()(T const& a, T const& b) const {
    if (--calls_left == 0) throw std::runtime_error("order");
    return a.key < b.key;
  }
};

template <typename T>
void check_with_failing_order(storage& store, std::mt19937_64& random) {
  priority_queue<T, failing_order> q(store, {}, tiny);
  model<T, std::conditional_t<std::is_same_v<T, big_item>, big_less, by_key>> m({});
  int failures = 0;
  for (std::uint64_t tag = 0; tag < scratch::operations(30'000U); ++tag) {
    T item{};
    make(random() % 1000 << 40, tag, item);
    bool const pushes = m.empty() || random() % 8 < (tag / 2000 % 2 == 0 ? 7U : 2U);
    auto const act = [&] { pushes ? q.push(item) : q.pop(); };
    failing_order::calls_left = static_cast<int>(random() % (tag % 64 == 0 ? 20'000 : 200));
    try {
      act();
    } catch (std::runtime_error const&) {
      ++failures;
      failing_order::calls_left = -1;
      ASSERT_EQ(q.size(), m.size());
      act();
    }
    failing_order::calls_left = -1;
    pushes ? m.push(item) : m.pop();
    ASSERT_EQ(q.size(), m.size());
    if (!m.empty() && tag % 16 == 0) {
      ASSERT_EQ(q.top(), m.top());
    }
  }
  for (; !m.empty(); m.pop(), q.pop()) ASSERT_EQ(q.top(), m.top());
  EXPECT_GT(failures, 50);
}

TEST_F(priority_queues, lose_nothing_if_their_order_throws) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  check_with_failing_order<tagged_item>(store, random);
  check_with_failing_order<big_item>(store, random);
}

TEST_F(priority_queues, move_each_block_once_each_way) {
  // As many arrays as need no merge: each block is written and read once, and the last one of each
  // array is not full.
  constexpr std::uint64_t count = 40'000, items_of_block = 4096 / 8, blocks_of_slab = 8;
  for (bool const ascending : {false, true}) {
    auto const reads_before = reads(), writes_before = writes();
    priority_queue<std::uint64_t, std::greater<>> q(store, {}, tiny);
    for (std::uint64_t i = 0; i < count; ++i) q.push(ascending ? i : random());
    ASSERT_GT(q.report().arrays, 4U);
    for (; !q.empty(); q.pop()) q.top();
    EXPECT_EQ(q.report().array_merges, 0U);
    std::uint64_t const bound = count / items_of_block * (blocks_of_slab + 1) / blocks_of_slab;
    EXPECT_LE(writes() - writes_before, bound);
    EXPECT_LE(reads() - reads_before, writes() - writes_before);
    EXPECT_GT(reads() - reads_before, bound / 2);
  }
}

TEST_F(priority_queues, merge_arrays_once_for_each_level) {
  constexpr std::uint64_t count = 1'000'000, items_of_block = 4096 / 8;
  priority_queue<std::uint64_t, std::greater<>> q(store, {}, tiny);
  for (std::uint64_t i = 0; i < count; ++i) q.push(random());
  ASSERT_GT(q.report().array_merges, 4U);
  for (; !q.empty(); q.pop()) q.top();
  // 245 slabs, of which four at least are merged to one: ⌈log₄ 245⌉ levels at most.
  std::uint64_t const blocks = count / items_of_block, levels = 4;
  EXPECT_LE(reads() + writes(), blocks * levels * 28 / 10);
}

TEST_F(priority_queues, take_memory_when_they_need_it) {
  auto const free = store.memory().free_bytes();
  priority_queue<std::uint64_t> q(store, {}, tiny);
  for (std::uint64_t i = 0; i < 2048; ++i) q.push(i);
  EXPECT_EQ(store.memory().free_bytes(), free);
  EXPECT_EQ(q.report().memory_bytes, 0U);
  q.push(1);
  EXPECT_EQ(store.memory().free_bytes(), free - 256_KiB);
  EXPECT_EQ(q.report().block_bytes, 4096U);

  priority_queue<std::uint64_t> poor(store, {}, {.memory_bytes = 64_KiB});
  for (std::uint64_t i = 0; i < 2048; ++i) poor.push(i);
  EXPECT_THROW(poor.push(1), budget_error);
  EXPECT_EQ(poor.size(), 2048U);
  EXPECT_EQ(poor.top(), 2047U);
}

TEST_F(priority_queues, go_on_when_there_is_room_on_a_disk_again) {
  storage small({.disks = {disk_options("small",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("small", 400_KiB);
                                        })},
                 .memory_bytes = 1_MiB,
                 .threads = 2});
  priority_queue<std::uint64_t> q(small, {}, tiny);
  model<std::uint64_t, std::less<>> m({});
  int refused = 0;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 20'000; ++i) {
      auto const x = random();
      try {
        q.push(x);
        m.push(x);
      } catch (out_of_space const& e) {
        ++refused;
        EXPECT_EQ(e.disk(), "small");
        break;
      }
    }
    ASSERT_EQ(q.size(), m.size());
    for (auto left = random() % 15'000; left > 0; --left, q.pop(), m.pop())
      ASSERT_EQ(q.top(), m.top());
  }
  EXPECT_GT(refused, 2);
  for (; !m.empty(); q.pop(), m.pop()) ASSERT_EQ(q.top(), m.top());
}

TEST_F(priority_queues, are_drained_in_order) {
  std::vector<std::uint64_t> all(70'000);
  for (auto& x : all) x = random() % 100'000;
  priority_queue<std::uint64_t, std::greater<>> q(store, {}, tiny);
  for (auto const x : all) q.push(x);
  std::ranges::sort(all);
  std::size_t i = 0;
  for (std::uint64_t const x : q.drain()) {
    ASSERT_EQ(x, all[i]);
    if (++i == 10'000) break;
  }
  EXPECT_EQ(q.size(), all.size() - i);
  ASSERT_EQ(q.top(), all[i]);
  q.push(all[i]);  // into the window that is left
  q.pop();
  for (auto in = q.drain(); !in.empty(); ++in) ASSERT_EQ(*in, all[i++]);
  EXPECT_EQ(i, all.size());
  EXPECT_TRUE(q.empty());
}

TEST_F(priority_queues, are_merged) {
  priority_queue<tagged_item, by_key> a(store, {}, tiny), b(store, {}, tiny);
  model<tagged_item, by_key> m({});
  for (std::uint32_t tag = 0; tag < 20'000; ++tag) {
    tagged_item const item{static_cast<std::uint32_t>(random() % 1000), tag};
    a.push(item);
    m.push(item);
  }
  model<tagged_item, by_key> of_b({});
  for (std::uint32_t tag = 20'000; tag < 50'000; ++tag) {
    tagged_item const item{static_cast<std::uint32_t>(random() % 1000), tag};
    b.push(item);
    of_b.push(item);
  }
  for (; !of_b.empty(); of_b.pop()) m.push(of_b.top());
  a.merge(b);
  EXPECT_TRUE(b.empty());
  EXPECT_EQ(a.size(), 50'000U);
  for (; !m.empty(); m.pop(), a.pop()) ASSERT_EQ(a.top(), m.top());
}

TEST_F(priority_queues, can_be_moved_and_cleared) {
  priority_queue<std::uint64_t> q(store, {}, tiny);
  for (std::uint64_t i = 0; i < 50'000; ++i) q.push(i);
  priority_queue<std::uint64_t> moved(std::move(q));
  EXPECT_EQ(moved.size(), 50'000U);
  EXPECT_EQ(moved.top(), 49'999U);
  moved.clear();
  EXPECT_TRUE(moved.empty());
  moved.emplace(7U);
  EXPECT_EQ(moved.top(), 7U);
  q = std::move(moved);
  EXPECT_EQ(q.top(), 7U);
  EXPECT_DEATH(priority_queue<std::uint64_t>(store).pop(), "empty queue");
}

}  // namespace
}  // namespace outsize
