// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Merges and set operations against the standard library's; what they cost.

#include <outsize/scan/merge_containers.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <outsize/algorithm/merge.hpp>
#include <outsize/testing/paged_pair.hpp>

namespace outsize {
namespace {

struct sorted_ranges : scratch::paged_pairs {
  /// Calls `ours(policy, a, b, out)` and `standard(a, b, out)` on sorted ranges.
  template <typename Ours, typename Standard>
  void expect_same(Ours const& ours, Standard const& standard) {
    on_many_by_both([&](auto const& p, auto policy) {
      scratch::numbers other = some(p.random() % 300, p.random, p.random() % 2 == 0 ? 20 : 1000);
      std::ranges::sort(other);
      std::ranges::sort(p.plain);
      auto const a = filled<vector<std::uint64_t>>(p.plain, 5);
      auto const b = filled<deque<std::uint64_t>>(other, 5);
      scratch::numbers plain_out(p.plain.size() + other.size(), 99);
      auto out = filled<vector<std::uint64_t>>(plain_out, 4);
      auto const end = ours(policy, a, b, out.begin());
      auto const plain_end = standard(p.plain, other, plain_out.begin());
      EXPECT_EQ(end - out.begin(), plain_end - plain_out.begin());
      EXPECT_TRUE(std::ranges::equal(std::as_const(out), plain_out));
      std::ranges::copy(a, p.paged.begin());
    });
  }
};

TEST_F(sorted_ranges, are_merged) {
  expect_same([](auto&&... x) { return merge(x...); },
              [](auto& a, auto& b, auto out) {
                return std::merge(a.begin(), a.end(), b.begin(), b.end(), out);
              });
}

TEST_F(sorted_ranges, make_unions_intersections_and_differences) {
  expect_same([](auto&&... x) { return set_union(x...); },
              [](auto& a, auto& b, auto out) {
                return std::set_union(a.begin(), a.end(), b.begin(), b.end(), out);
              });
  expect_same([](auto&&... x) { return set_intersection(x...); },
              [](auto& a, auto& b, auto out) {
                return std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), out);
              });
  expect_same([](auto&&... x) { return set_difference(x...); },
              [](auto& a, auto& b, auto out) {
                return std::set_difference(a.begin(), a.end(), b.begin(), b.end(), out);
              });
  expect_same([](auto&&... x) { return set_symmetric_difference(x...); },
              [](auto& a, auto& b, auto out) {
                return std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), out);
              });
}

TEST_F(sorted_ranges, are_as_they_were_where_the_order_throws) {
  auto const a = on_disk(50), b = on_disk(50);
  auto out = on_disk(100);
  auto const refuses_200 = [](std::uint64_t x, std::uint64_t y) {
    if (x == 200 || y == 200) throw std::runtime_error("two hundred");
    return x < y;
  };
  auto const expect_throw = [&](auto const& action) {
    for (std::uint64_t i = 0; i < 800; ++i) out[i] = 1'000 + i;
    EXPECT_THROW(action(sequential_policy{}), std::runtime_error);
    EXPECT_EQ(out.size(), 800U);
    for (std::uint64_t i = 408; i < 800; ++i) ASSERT_EQ(std::as_const(out)[i], 1'000 + i);
    EXPECT_THROW(action(par), std::runtime_error);
    EXPECT_EQ(out.size(), 800U);
    for (std::uint64_t i = 0; i < 400; ++i) ASSERT_EQ(a[i], i);
    for (std::uint64_t i = 0; i < 400; ++i) ASSERT_EQ(b[i], i);
  };
  expect_throw([&](auto policy) { merge(policy, a, b, out.begin(), refuses_200); });
  for (std::uint64_t i = 0; i < 384; ++i) ASSERT_EQ(std::as_const(out)[i], i / 2);
  expect_throw([&](auto policy) { set_union(policy, a, b, out.begin(), refuses_200); });
  expect_throw([&](auto policy) { set_intersection(policy, a, b, out.begin(), refuses_200); });
  expect_throw([&](auto policy) { set_difference(policy, a, b, out.begin(), refuses_200); });
  expect_throw(
      [&](auto policy) { set_symmetric_difference(policy, a, b, out.begin(), refuses_200); });
  EXPECT_THROW(includes(a, b, refuses_200), std::runtime_error);
  EXPECT_THROW(includes(par, a, b, refuses_200), std::runtime_error);
  merge(a, b, out.begin());
  EXPECT_TRUE(std::ranges::is_sorted(std::as_const(out)));
}

TEST_F(sorted_ranges, include_others_or_not) {
  on_many_by_both([this](auto const& p, auto policy) {
    std::ranges::sort(p.plain, std::greater<>());
    auto const a = filled<vector<std::uint64_t>>(p.plain);
    scratch::numbers other;
    std::ranges::copy_if(p.plain, std::back_inserter(other),
                         [&](auto) { return p.random() % 2 == 0; });
    if (p.random() % 2 == 0) other.push_back(0);
    EXPECT_EQ(includes(policy, a, other.begin(), other.end(), std::greater<>()),
              std::includes(p.plain.begin(), p.plain.end(), other.begin(), other.end(),
                            std::greater<>()));
    EXPECT_TRUE(
        includes(policy, a.begin(), a.end(), p.plain.begin(), p.plain.end(), std::greater<>()));
    std::ranges::copy(a, p.paged.begin());
  });
}

TEST_F(sorted_ranges, keep_those_of_the_first_range_first) {
  struct tagged {
    std::uint32_t key, from;
    bool operator==(tagged const&) const = default;
  };
  auto const less = [](tagged const& a, tagged const& b) { return a.key < b.key; };
  std::vector<tagged> a, b, expected(50), found(50);
  for (std::uint32_t i = 0; i < 30; ++i) a.push_back({i / 7, i});
  for (std::uint32_t i = 0; i < 20; ++i) b.push_back({i / 5, 100 + i});
  vector<tagged> paged(store, options(5));
  for (auto const& item : a) paged.push_back(item);
  std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin(), less);
  merge(paged, b.begin(), b.end(), found.begin(), less);
  EXPECT_EQ(found, expected);
  expected.resize(30);
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), expected.begin(), less);
  found.resize(30);
  set_union(paged.begin(), paged.end(), b.begin(), b.end(), found.begin(), less);
  EXPECT_EQ(found, expected);
}

TEST_F(sorted_ranges, cost_a_read_for_each_page_and_a_write_for_each_of_the_output) {
  auto a = on_disk(50), b = on_disk(50), out = on_disk(100);
  auto const reads_before = reads(), writes_before = writes();
  merge(a, b, out.begin());
  out.flush();
  EXPECT_LE(reads() - reads_before, 100U);
  EXPECT_LE(writes() - writes_before, 102U);
}

}  // namespace
}  // namespace outsize
