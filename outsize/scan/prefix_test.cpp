// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Prefix sums and differences against the standard library's, in place and not; what they cost.

#include <outsize/scan/prefix.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <outsize/testing/paged_pair.hpp>

namespace outsize {
namespace {

struct prefixes : scratch::paged_pairs {};

TEST_F(prefixes, are_summed_in_place) {
  on_many_by_both([](auto const& p, auto policy) {
    EXPECT_EQ(partial_sum(policy, p.first(), p.last(), p.first()), p.last());
    std::partial_sum(p.plain_first(), p.plain_last(), p.plain_first());
    inclusive_scan(policy, p.first(), p.last(), p.first(), std::bit_xor<>());
    std::inclusive_scan(p.plain_first(), p.plain_last(), p.plain_first(), std::bit_xor<>());
    inclusive_scan(policy, p.first(), p.last(), p.first(), std::plus<>(), std::uint64_t{5});
    std::inclusive_scan(p.plain_first(), p.plain_last(), p.plain_first(), std::plus<>(),
                        std::uint64_t{5});
    exclusive_scan(policy, p.first(), p.last(), p.first(), std::uint64_t{3});
    std::exclusive_scan(p.plain_first(), p.plain_last(), p.plain_first(), std::uint64_t{3});
    adjacent_difference(policy, p.first(), p.last(), p.first());
    std::adjacent_difference(p.plain_first(), p.plain_last(), p.plain_first());
  });
}

TEST_F(prefixes, go_to_other_containers_and_iterators) {
  on_many_by_both([this](auto const& p, auto policy) {
    scratch::numbers expected;
    std::exclusive_scan(p.plain_first(), p.plain_last(), std::back_inserter(expected),
                        std::uint64_t{1}, std::multiplies<>());
    scratch::numbers found;
    exclusive_scan(p.first(), p.last(), std::back_inserter(found), std::uint64_t{1},
                   std::multiplies<>());
    EXPECT_EQ(found, expected);
    auto out = filled<deque<std::uint64_t>>(scratch::numbers(p.plain.size()));
    EXPECT_EQ(
        adjacent_difference(policy, p.plain.begin(), p.plain.end(), out.begin(), std::plus<>()),
        out.end());
    scratch::numbers sums(p.plain.size());
    std::adjacent_difference(p.plain.begin(), p.plain.end(), sums.begin(), std::plus<>());
    EXPECT_TRUE(std::ranges::equal(std::as_const(out), sums));
  });
}

TEST_F(prefixes, may_be_of_an_operation_with_a_state) {
  auto v = filled<vector<std::uint64_t>>(scratch::numbers(20, 1));
  partial_sum(v, v.begin(), [calls = 0U](std::uint64_t a, std::uint64_t b) mutable {
    return a + b + ++calls % 2;
  });
  EXPECT_EQ(v.back(), 20U + 10);
}

TEST_F(prefixes, that_are_there_stay_where_an_operation_throws) {
  auto const v = on_disk(100);
  auto w = on_disk(100);
  auto const refuses_500 = [](std::uint64_t a, std::uint64_t b) {
    if (a == 500 || b == 500) throw std::runtime_error("five hundred");
    return a + b;
  };
  auto const expect_no_change_behind = [&] {
    EXPECT_EQ(w.size(), 800U);
    for (std::uint64_t i = 504; i < 800; ++i) ASSERT_EQ(std::as_const(w)[i], i);
  };
  EXPECT_THROW(exclusive_scan(v, w.begin(), std::uint64_t{0}, refuses_500), std::runtime_error);
  expect_no_change_behind();
  for (std::uint64_t i = 0; i < 496; ++i) ASSERT_EQ(std::as_const(w)[i], i * (i - 1) / 2);
  EXPECT_THROW(partial_sum(v, w.begin(), refuses_500), std::runtime_error);
  expect_no_change_behind();
  for (std::uint64_t i = 0; i < 496; ++i) ASSERT_EQ(std::as_const(w)[i], i * (i + 1) / 2);
  EXPECT_THROW(adjacent_difference(v, w.begin(), refuses_500), std::runtime_error);
  expect_no_change_behind();
  for (std::uint64_t i = 1; i < 496; ++i) ASSERT_EQ(std::as_const(w)[i], 2 * i - 1);
  EXPECT_THROW(inclusive_scan(par, v, w.begin(), refuses_500), std::runtime_error);
  EXPECT_THROW(exclusive_scan(par, v, w.begin(), std::uint64_t{0}, refuses_500),
               std::runtime_error);
  EXPECT_THROW(adjacent_difference(par, v, w.begin(), refuses_500), std::runtime_error);
  EXPECT_EQ(w.size(), 800U);
  for (std::uint64_t i = 0; i < 800; ++i) ASSERT_EQ(v[i], i);
  partial_sum(par, v, w.begin());
  EXPECT_EQ(w.back(), 800U * 799 / 2);
}

TEST_F(prefixes, cost_a_read_and_a_write_for_each_page) {
  auto v = on_disk(100);
  auto reads_before = reads(), writes_before = writes();
  partial_sum(v, v.begin());
  v.flush();
  EXPECT_LE(reads() - reads_before, 100U);
  EXPECT_LE(writes() - writes_before, 102U);
  EXPECT_EQ(v.back(), 800U * 799 / 2);
  auto w = on_disk(100);
  reads_before = reads(), writes_before = writes();
  partial_sum(par, w, w.begin());
  w.flush();
  EXPECT_LE(reads() - reads_before, 100U);
  EXPECT_LE(writes() - writes_before, 102U);
  EXPECT_EQ(w.back(), 800U * 799 / 2);
}

}  // namespace
}  // namespace outsize
