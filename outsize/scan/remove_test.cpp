// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Items that are kept come to the front, and only pages that change are written.

#include <outsize/scan/remove.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/scan/for_each.hpp>
#include <outsize/testing/paged_pair.hpp>

namespace outsize {
namespace {

struct removals : scratch::paged_pairs {
  template <typename Policy>
  void expect_no_write_in_front(Policy policy);
  template <typename Policy>
  void expect_few_writes(Policy policy);

  /// What is behind the kept items is not known.
  template <typename Pair, typename I>
  static void expect_kept(Pair const& p, I end, scratch::numbers::iterator plain_end) {
    ASSERT_TRUE(p.same_place(end, plain_end));
    for (auto i = plain_end - p.plain.begin(); i < p.plain_last() - p.plain.begin(); ++i)
      p.plain[static_cast<std::size_t>(i)] = p.paged[static_cast<std::size_t>(i)];
  }
};

TEST_F(removals, remove_items) {
  on_many_by_both([](auto const& p, auto policy) {
    auto const low = [](std::uint64_t x) { return x < 5; };
    expect_kept(p, remove(policy, p.first(), p.last(), 7),
                std::remove(p.plain_first(), p.plain_last(), 7U));
    expect_kept(p, remove_if(policy, p.first(), p.last(), low),
                std::remove_if(p.plain_first(), p.plain_last(), low));
  });
}

TEST_F(removals, erase_items) {
  auto const low = [](std::uint64_t x) { return x < 5; };
  on_many([&](auto const& p) {
    EXPECT_EQ(erase(p.paged, 7), std::erase(p.plain, 7U));
    auto const erased = std::erase_if(p.plain, low);
    EXPECT_EQ(p.random() % 2 == 0 ? erase_if(p.paged, low) : erase_if(par, p.paged, low), erased);
  });
  auto v = on_disk(100);
  auto const reads_before = reads();
  EXPECT_EQ(erase_if(v, [](std::uint64_t x) { return x % 2 == 0; }), 400U);
  EXPECT_LE(reads() - reads_before, 100U);
}

TEST_F(removals, leave_one_of_equal_neighbours) {
  on_many_by_both(
      [](auto const& p, auto policy) {
        auto const near = [](std::uint64_t a, std::uint64_t b) { return a / 2 == b / 2; };
        expect_kept(p, unique(policy, p.first(), p.last()),
                    std::unique(p.plain_first(), p.plain_last()));
        expect_kept(p, unique(policy, p.first(), p.last(), near),
                    std::unique(p.plain_first(), p.plain_last(), near));
      },
      4);
}

TEST_F(removals, partition_items) {
  for (std::uint64_t const below : {0U, 1U, 5U, 9U, 10U})
    on_many_by_both([&](auto const& p, auto policy) {
      std::atomic<std::uint64_t> asked = 0;
      auto const is_low = [&](std::uint64_t x) { return x < below; };
      auto const middle = partition(policy, p.first(), p.last(), [&](std::uint64_t x) {
        ++asked;
        return is_low(x);
      });
      EXPECT_EQ(asked, p.end - p.begin);
      auto const lows = std::count_if(p.plain_first(), p.plain_last(), is_low);
      ASSERT_EQ(middle - p.first(), lows);
      EXPECT_TRUE(std::all_of(p.first(), middle, is_low));
      EXPECT_TRUE(std::none_of(middle, p.last(), is_low));
      scratch::numbers found(p.first(), p.last());
      EXPECT_TRUE(std::is_permutation(found.begin(), found.end(), p.plain_first(), p.plain_last()));
      std::ranges::copy(found, p.plain_first());
    });
}

TEST_F(removals, partition_items_in_their_order) {
  on_many_by_both([](auto const& p, auto policy) {
    auto const third = [](std::uint64_t x) { return x % 3 == 0; };
    auto const middle = stable_partition(policy, p.first(), p.last(), third);
    EXPECT_TRUE(
        p.same_place(middle, std::stable_partition(p.plain_first(), p.plain_last(), third)));
  });
}

template <typename Policy>
void removals::expect_no_write_in_front(Policy policy) {
  auto v = on_disk(100);
  auto reads_before = reads(), writes_before = writes();
  auto end = remove_if(policy, v, [](std::uint64_t x) { return x >= 640 && x % 2 == 0; });
  v.flush();
  EXPECT_EQ(end - v.begin(), 720);
  EXPECT_LE(reads() - reads_before, 100U);
  EXPECT_LE(writes() - writes_before, 10U + 2);  // pages 80 to 89
  reads_before = reads(), writes_before = writes();
  EXPECT_EQ(unique(policy, v.begin(), end), end);
  v.flush();
  EXPECT_LE(reads() - reads_before, 90U);
  EXPECT_LE(writes() - writes_before, v.live_pages());  // what was changed before
}

TEST_F(removals, write_no_page_in_front_of_the_first_that_changes) {
  expect_no_write_in_front(sequential_policy{});
  expect_no_write_in_front(par);
}

template <typename Policy>
void removals::expect_few_writes(Policy policy) {
  auto v = on_disk(100);
  auto const reads_before = reads(), writes_before = writes();
  auto const middle = partition(policy, v, [](std::uint64_t x) { return x != 4 && x != 20; });
  v.flush();
  EXPECT_EQ(middle - v.begin(), 798);
  EXPECT_LE(reads() - reads_before, 101U);
  EXPECT_LE(writes() - writes_before, 2U + v.live_pages());
}

TEST_F(removals, write_only_pages_in_which_items_are_exchanged) {
  expect_few_writes(sequential_policy{});
  expect_few_writes(par);
}

/// Is asked `answered` times, and throws then.
template <typename Wanted>
auto refusing(Wanted const& wanted, std::atomic<std::int64_t>& answered) {
  return [&](auto const&... x) {
    if (answered-- <= 0) throw std::runtime_error("refused");
    return wanted(x...);
  };
}

TEST_F(removals, lose_no_item_where_what_is_asked_when_they_are_partitioned_throws) {
  on_many_by_both([](auto const& p, auto policy) {
    if (p.begin == p.end) return;
    auto const third = [](std::uint64_t x) { return x % 3 == 0; };
    auto const asked = static_cast<std::int64_t>(p.random() % (p.end - p.begin));
    std::atomic<std::int64_t> left = asked;
    EXPECT_THROW(stable_partition(policy, p.first(), p.last(), refusing(third, left)),
                 std::runtime_error);
    if (std::same_as<decltype(policy), sequential_policy>)
      std::stable_partition(p.plain_first(), p.plain_first() + asked, third);
    scratch::numbers found(p.first(), p.last());
    EXPECT_TRUE(std::is_permutation(found.begin(), found.end(), p.plain_first(), p.plain_last()));
    if (!std::same_as<decltype(policy), sequential_policy>)
      std::ranges::copy(found, p.plain_first());
    left = asked;
    EXPECT_THROW(partition(policy, p.first(), p.last(), refusing(third, left)), std::runtime_error);
    found.assign(p.first(), p.last());
    EXPECT_TRUE(std::is_permutation(found.begin(), found.end(), p.plain_first(), p.plain_last()));
    std::ranges::copy(found, p.plain_first());
  });
}

TEST_F(removals, lose_no_item_where_others_find_no_room_on_disk) {
  storage small({.disks = {disk_options("small",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("small", 150 * 64);
                                        })},
                 .memory_bytes = 1_MiB,
                 .threads = 2});
  vector<std::uint64_t> v(small, options(6));
  for (std::uint64_t i = 0; i < 100 * page_items; ++i) v.push_back(i);
  auto const wanted = [](std::uint64_t x) { return x % 4 == 0; };
  EXPECT_THROW(stable_partition(v, wanted), out_of_space);
  scratch::numbers found(v.cbegin(), v.cend());
  std::ranges::sort(found);
  for (std::uint64_t i = 0; i < 100 * page_items; ++i) ASSERT_EQ(found[i], i);
}

TEST_F(removals, keep_what_was_to_stay_where_what_is_asked_throws) {
  on_many_by_both([](auto const& p, auto policy) {
    std::uint64_t next = 0;  // so that all items differ
    for (auto i = p.begin; i < p.end; ++i) p.paged[i] = p.plain[i] = next++;
    auto const expect_all = [&](auto const& stays) {
      scratch::numbers const found(p.first(), p.last());
      for (std::uint64_t x = 0; x < next; ++x)
        ASSERT_TRUE(!stays(x) || std::ranges::find(found, x) != found.end()) << x;
    };
    if (next < 2) return;
    std::atomic<std::int64_t> left = static_cast<std::int64_t>(p.random() % (next - 1));
    auto const asked = static_cast<std::uint64_t>(left) + 1;  // with the one that it throws for
    auto const same = [](std::uint64_t x, std::uint64_t y) { return x / 3 == y / 3; };
    EXPECT_THROW(unique(policy, p.first(), p.last(), refusing(same, left)), std::runtime_error);
    expect_all([&](std::uint64_t x) { return x % 3 == 0; });
    if (std::same_as<decltype(policy), sequential_policy>) {
      for (auto x = asked + 1; x < next; ++x)
        ASSERT_EQ(p.first()[static_cast<std::ptrdiff_t>(x)], x);
    }
    tabulate(p.first(), p.last(), [](std::uint64_t i) { return i; });
    left = static_cast<std::int64_t>(asked - 1);
    auto const third = [](std::uint64_t x) { return x % 3 == 0; };
    EXPECT_THROW(remove_if(policy, p.first(), p.last(), refusing(third, left)), std::runtime_error);
    expect_all([&](std::uint64_t x) { return x % 3 != 0; });
    if (std::same_as<decltype(policy), sequential_policy>) {
      for (auto x = asked; x < next; ++x) ASSERT_EQ(p.first()[static_cast<std::ptrdiff_t>(x)], x);
    }
    std::copy(p.first(), p.last(), p.plain_first());
  });
}

TEST_F(removals, erase_nothing_where_what_is_asked_throws) {
  auto v = on_disk(100);
  auto const fails = [](std::uint64_t x) {
    if (x == 500) throw std::runtime_error("refused");
    return x % 3 == 0;
  };
  EXPECT_THROW(erase_if(v, fails), std::runtime_error);
  EXPECT_THROW(erase_if(par, v, fails), std::runtime_error);
  EXPECT_EQ(v.size(), 800U);
  for (std::uint64_t i = 500; i < 800; ++i) ASSERT_EQ(std::as_const(v)[i], i);
}

TEST_F(removals, take_whole_vectors) {
  auto v = filled<vector<std::uint64_t>>({1, 1, 2, 2, 2, 3, 1, 1, 5, 5, 5, 5, 5, 5, 6});
  v.erase(unique(v), v.end());
  EXPECT_TRUE(std::ranges::equal(std::as_const(v), scratch::numbers{1, 2, 3, 1, 5, 6}));
  v.erase(remove(v, 1), v.end());
  EXPECT_TRUE(std::ranges::equal(std::as_const(v), scratch::numbers{2, 3, 5, 6}));
}

}  // namespace
}  // namespace outsize
