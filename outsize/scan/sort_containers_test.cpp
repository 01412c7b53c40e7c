// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Vectors and deques sorted in place against the standard library's; disk space, I/Os, errors.

#include <outsize/scan/sort_containers.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include <outsize/algorithm/is_sorted.hpp>
#include <outsize/algorithm/merge.hpp>
#include <outsize/algorithm/nth_element.hpp>
#include <outsize/algorithm/top_k.hpp>
#include <outsize/base/error.hpp>
#include <outsize/container/vector_readers.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/paged_pair.hpp>

namespace outsize {
namespace {

struct sorted_containers : testing::Test, scratch::counted_storage {
  static constexpr std::size_t many = 500'000;  // as words more than the storage has of memory
  page_options const small{.page_bytes = 4_KiB, .cache_pages = 8, .spare_pages = 4};

  sorted_containers() : counted_storage(3_MiB) {}

  struct event {
    std::uint32_t key, number;
    std::uint64_t rest;
    bool operator==(event const&) const = default;
  };
  static event event_of(std::uint64_t random, std::uint64_t number) {
    return {static_cast<std::uint32_t>(random % 1000), static_cast<std::uint32_t>(number), random};
  }
  template <typename Container>
  void fill_randomly(Container& paged, std::vector<event>& plain, std::size_t count) {
    std::mt19937_64 random(3);
    for (std::size_t i = 0; i < count; ++i) {
      plain.push_back(event_of(random(), i));
      paged.push_back(plain.back());
    }
  }
  template <typename Container, typename T>
  static void expect_equal(Container const& paged, std::vector<T> const& plain) {
    ASSERT_EQ(paged.size(), plain.size());
    EXPECT_TRUE(std::equal(paged.begin(), paged.end(), plain.begin()));
  }
};

TEST_F(sorted_containers, are_in_the_order_of_the_standard_library) {
  for (std::size_t const count : {std::size_t{0}, std::size_t{1}, std::size_t{5000}, many}) {
    vector<std::uint64_t> v(store, small);
    std::vector<std::uint64_t> plain;
    std::mt19937_64 random(count);
    for (std::size_t i = 0; i < count; ++i) plain.push_back(random());
    for (auto const item : plain) v.push_back(item);
    auto const report = sort(v);
    EXPECT_EQ(report.runs > 0, count == many);
    std::ranges::sort(plain);
    expect_equal(v, plain);
    sort(v, std::greater<>());
    std::ranges::reverse(plain);
    expect_equal(v, plain);
  }
}

TEST_F(sorted_containers, keep_the_order_of_equal_items) {
  vector<event> v(store, small);
  std::vector<event> plain;
  fill_randomly(v, plain, 250'000);
  auto const by_key = [](event const& a, event const& b) { return a.key < b.key; };
  EXPECT_GT(stable_sort(v, by_key).runs, 0U);
  std::ranges::stable_sort(plain, by_key);
  expect_equal(v, plain);
  sort(v, by(&event::rest));
  EXPECT_TRUE(is_sorted(store, v, by(&event::rest)));
}

TEST_F(sorted_containers, are_sorted_in_part) {
  deque<event> d(store, small);
  std::vector<event> plain;
  fill_randomly(d, plain, 200'000);
  d.push_front(plain[0]);
  plain.insert(plain.begin(), plain[0]);
  auto const less = [](event const& a, event const& b) { return a.key > b.key; };
  stable_sort(d.begin() + 17, d.end() - 100, less);
  std::stable_sort(plain.begin() + 17, plain.end() - 100, less);
  expect_equal(d, plain);
}

TEST_F(sorted_containers, are_left_with_different_items) {
  vector<std::uint64_t> v(store, small);
  deque<event> d(store, small);
  std::vector<event> plain;
  fill_randomly(d, plain, 200'000);
  for (auto const& e : plain) v.push_back(e.key);
  EXPECT_EQ(sort_unique(v).items, 200'000U);
  EXPECT_EQ(v.size(), 1000U);
  EXPECT_EQ(std::as_const(v)[999], 999U);
  auto const less = [](event const& a, event const& b) { return a.key < b.key; };
  sort_unique(d, less);
  std::ranges::stable_sort(plain, less);
  plain.erase(std::unique(plain.begin(), plain.end(),
                          [](event const& a, event const& b) { return a.key == b.key; }),
              plain.end());
  expect_equal(d, plain);
}

TEST_F(sorted_containers, cost_a_scan_and_their_runs_and_as_much_disk_again) {
  vector<std::uint64_t> v(store, small);
  std::mt19937_64 random(9);
  for (std::size_t i = 0; i < many; ++i) v.push_back(random());
  v.flush();
  std::uint64_t const bytes = store.allocated_bytes();
  auto const read_before = tally->reads().bytes, written_before = tally->writes().bytes;
  auto const report = sort(v, std::less<>(), {.codec = run_codec::none});
  v.flush();
  EXPECT_EQ(report.passes, 1U);
  EXPECT_LE(tally->reads().bytes - read_before, bytes + report.run_disk_bytes);
  EXPECT_LE(tally->writes().bytes - written_before,
            bytes + report.run_disk_bytes + v.live_pages() * 4_KiB);
  EXPECT_EQ(store.allocated_bytes(), bytes);
  EXPECT_LE(store.peak_allocated_bytes(), 2 * bytes + 256_KiB);
}

TEST_F(sorted_containers, are_as_before_when_a_run_cannot_be_written) {
  std::uint64_t const bytes = many * sizeof(std::uint64_t);
  storage small_disk(
      {.disks = {disk_options(
           "memory",
           [&](io::request_queue&) { return io::make_memory_file("memory", bytes + bytes / 2); })},
       .memory_bytes = 3_MiB,
       .threads = 2});
  vector<std::uint64_t> v(small_disk, small);
  std::mt19937_64 random(10);
  for (std::size_t i = 0; i < many; ++i) v.push_back(random());
  EXPECT_THROW(sort(v, std::less<>(), {.codec = run_codec::none}), out_of_space);
  std::mt19937_64 again(10);
  for (auto const item : std::as_const(v)) ASSERT_EQ(item, again());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(sort(v, std::less<>(), {.stop = stop.get_token()}), cancelled);
  EXPECT_THROW(sort(v, std::less<>(), {.memory_bytes = 1_GiB}), budget_error);
  again.seed(10);
  for (auto const item : std::as_const(v)) ASSERT_EQ(item, again());
  EXPECT_LE(small_disk.allocated_bytes(), bytes + 4_KiB);
}

TEST_F(sorted_containers, are_as_before_when_the_order_throws_while_runs_are_formed) {
  vector<event> v(store, small);
  std::vector<event> plain;
  fill_randomly(v, plain, 250'000);
  auto const fails = [](event const& a, event const&) -> bool {
    if (a.number == 240'000) throw std::runtime_error("no order");
    return false;
  };
  EXPECT_THROW(sort(v, fails), std::runtime_error);
  expect_equal(v, plain);
}

struct long_event {
  std::uint64_t number;
  std::uint64_t rest[6];
  bool operator==(long_event const&) const = default;
};

struct longer_event : long_event {  // sorted by an index, if by a key
  std::uint64_t more[3];
  bool operator==(longer_event const&) const = default;
};

/// Counts calls, and throws at one of them, or from there on.
struct throwing_calls {
  std::atomic<long> count = 0;
  long last = std::numeric_limits<long>::max();
  bool for_ever = false;

  void note() {
    long const call = count.fetch_add(1);
    if (call == last || (for_ever && call > last)) throw std::runtime_error("no order");
  }
};

/// Sorts a container whose order, `make_order(calls)`, throws at one of its calls, at many of them
/// in turn.
template <typename Container, typename MakeOrder>
void expect_all_items_whenever_the_order_throws(Container v, sort_options const& options,
                                                MakeOrder const& make_order,
                                                bool for_ever = false) {
  using item = typename Container::value_type;
  constexpr std::uint64_t count = 2'400'000 / sizeof(item);
  throwing_calls calls{.for_ever = for_ever};
  auto const less = make_order(calls);
  std::vector<item> plain(count);
  for (std::uint64_t i = 0; i < count; ++i)
    plain[i].number = static_cast<std::uint32_t>(i * 7919 % count);
  v.resize(count);
  std::ranges::copy(plain, v.begin());
  EXPECT_GT(sort(v, less, options).runs, 1U);
  long const all = calls.count;
  int as_before = 0, permuted = 0;
  for (long const percent : {30, 80, 90, 92, 94, 96, 98, 99}) {
    SCOPED_TRACE(testing::Message() << percent << " percent of " << all << " comparisons");
    std::ranges::copy(plain, v.begin());
    calls.count = 0;
    calls.last = all / 100 * percent;
    EXPECT_THROW(sort(v, less, options), std::runtime_error);
    calls.last = std::numeric_limits<long>::max();
    std::vector<item> const found(v.cbegin(), v.cend());
    if (found == plain) {
      ++as_before;
      continue;
    }
    ++permuted;
    std::vector<bool> is_there(count);
    for (auto const& each : found) is_there[each.number] = true;
    ASSERT_EQ(std::ranges::count(is_there, true), count) << "permuted";
  }
  EXPECT_GE(as_before, 1);
  EXPECT_GE(permuted, 2);
}

TEST_F(sorted_containers, have_all_items_whenever_the_order_throws) {
  sort_options options{.memory_bytes = 2_MiB};
  auto const comparing = [](throwing_calls& calls) {
    return [&calls](auto const& a, auto const& b) {
      calls.note();
      return a.number < b.number;
    };
  };
  expect_all_items_whenever_the_order_throws(vector<event>(store, small), options, comparing);
  expect_all_items_whenever_the_order_throws(deque<long_event>(store, small), options, comparing);
  options.unique = true;
  expect_all_items_whenever_the_order_throws(vector<long_event>(store, small), options, comparing);
}

TEST_F(sorted_containers, have_all_items_whenever_the_key_throws) {
  sort_options const options{.memory_bytes = 2_MiB};
  auto const by_number = [](throwing_calls& calls) {
    return by([&calls](auto const& item) {
      calls.note();
      return item.number;
    });
  };
  for (bool const for_ever : {false, true}) {
    expect_all_items_whenever_the_order_throws(vector<event>(store, small), options, by_number,
                                               for_ever);
    expect_all_items_whenever_the_order_throws(vector<longer_event>(store, small), options,
                                               by_number, for_ever);
  }
}

TEST_F(sorted_containers, have_all_items_whenever_a_stop_is_requested) {
  std::vector<std::uint64_t> plain(many);
  std::iota(plain.begin(), plain.end(), 0);
  int cancelled_ones = 0;
  for (int const after : {0, 2, 4, 5, 6, 7, 100}) {
    vector<std::uint64_t> v(store, small);
    for (std::uint64_t i = 0; i < many; ++i) v.push_back(many - 1 - i);
    std::stop_source stop;
    int calls = 0;
    bool stopped = false;
    try {
      sort(v, std::less<>(), {.stop = stop.get_token(), .on_progress = [&](sort_progress const&) {
                                if (calls++ == after) stop.request_stop();
                              }});
    } catch (cancelled const&) {
      stopped = true;
    }
    cancelled_ones += stopped ? 1 : 0;
    std::uint64_t i = 0;
    for (vector_reader in(v); !in.empty(); ++in, ++i) ASSERT_EQ(*in, stopped ? many - 1 - i : i);
    ASSERT_EQ(i, many);
  }
  EXPECT_GE(cancelled_ones, 1);
  EXPECT_LE(cancelled_ones, 6);
}

TEST_F(sorted_containers, are_valid_when_the_disk_fails) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  auto const plan = std::make_shared<io::fault_plan>(io::fault_odds{.seed = seed, .fail = 0.001});
  storage faulty({.disks = {disk_options("faulty",
                                         [&](io::request_queue&) -> io::file_ptr {
                                           return std::make_unique<io::faulty_file>(
                                               io::make_memory_file("faulty"), plan);
                                         })},
                  .memory_bytes = 3_MiB,
                  .threads = 2});
  vector<std::uint64_t> v(faulty, small);
  auto const persist = [&](auto const& action) {
    for (;;) try {
        return action();
      } catch (io_error const&) {
      }
  };
  for (std::uint64_t i = 0; i < many; ++i) persist([&] { v.push_back(i * 7919 % many); });
  persist([&] { sort(v, std::greater<>()); });
  EXPECT_EQ(v.size(), many);
  for (std::uint64_t i = 1; i < many; ++i)
    persist([&] { ASSERT_LE(std::as_const(v)[i], std::as_const(v)[i - 1]); });
}

TEST_F(sorted_containers, are_called_as_parallel_algorithms_are) {
  std::vector<std::uint64_t> const plain = {3, 1, 4, 1, 5, 9, 2, 6};
  vector<std::uint64_t> v(store, plain, small);
  EXPECT_EQ(sort(par, v, std::greater<>()).items, 8U);
  EXPECT_TRUE(std::ranges::is_sorted(std::as_const(v), std::greater<>()));
  stable_sort(par, v.begin(), v.end());
  EXPECT_TRUE(std::ranges::is_sorted(std::as_const(v)));
  sort_unique(par, v);
  EXPECT_EQ(v.size(), 7U);
}

TEST_F(sorted_containers, are_sources_of_all_sorts_and_merges) {
  vector<std::uint64_t> v(store, small);
  deque<std::uint64_t> d(store, small);
  std::vector<std::uint64_t> plain;
  std::mt19937_64 random(11);
  for (std::size_t i = 0; i < 30'000; ++i) {
    plain.push_back(random() % 100'000);
    v.push_back(plain.back());
  }
  std::vector<std::uint64_t> found;
  sort(store, v, std::back_inserter(found));
  std::ranges::sort(plain);
  EXPECT_EQ(found, plain);
  EXPECT_EQ(nth_element(store, std::as_const(v), 777), plain[777]);
  EXPECT_FALSE(is_sorted(store, v));
  found.clear();
  top_k(store, v, std::back_inserter(found), 5);
  EXPECT_TRUE(std::equal(found.begin(), found.end(), plain.begin()));

  sort(v);
  std::vector<vector<std::uint64_t>> two;
  two.push_back(std::move(v));
  two.emplace_back(store, small);
  for (std::uint64_t i = 0; i < 20'000; ++i) two[1].push_back(5 * i);
  two.emplace_back(store, small);  // and one that is empty
  found.clear();
  merge(store, two, std::back_inserter(found));
  for (std::uint64_t i = 0; i < 20'000; ++i) plain.push_back(5 * i);
  std::ranges::sort(plain);
  EXPECT_EQ(found, plain);
  std::swap(two[1][100], two[1][200]);
  EXPECT_THROW(merge(store, two, std::back_inserter(found)), format_error);
}

}  // namespace
}  // namespace outsize
