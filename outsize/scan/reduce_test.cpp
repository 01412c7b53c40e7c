// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// One value of many items: as the standard library's, in order where it says so.

#include <outsize/scan/reduce.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include <outsize/container/matrix.hpp>
#include <outsize/page/page_pool.hpp>
#include <outsize/testing/paged_pair.hpp>

namespace outsize {
namespace {

struct reductions : scratch::paged_pairs {};

TEST_F(reductions, count_items) {
  on_many_by_both([](auto const& p, auto policy) {
    auto const odd = [](std::uint64_t x) { return x % 2 == 1; };
    EXPECT_EQ(count(policy, p.first(), p.last(), 4),
              std::count(p.plain_first(), p.plain_last(), 4U));
    EXPECT_EQ(count(policy, p.first(), p.last(), 4.5), 0) << "compared as it is, not as an item";
    EXPECT_EQ(count_if(policy, p.first(), p.last(), odd),
              std::count_if(p.plain_first(), p.plain_last(), odd));
  });
}

TEST_F(reductions, add_items) {
  on_many_by_both([](auto const& p, auto policy) {
    auto const sum = std::accumulate(p.plain_first(), p.plain_last(), std::uint64_t{7});
    EXPECT_EQ(reduce(policy, p.first(), p.last()), sum - 7);
    EXPECT_EQ(reduce(policy, p.first(), p.last(), std::uint64_t{7}), sum);
    EXPECT_EQ(accumulate(p.first(), p.last(), std::uint64_t{7}), sum);
    EXPECT_EQ(
        transform_reduce(policy, p.first(), p.last(), p.plain_first(), std::uint64_t{1}),
        std::inner_product(p.plain_first(), p.plain_last(), p.plain_first(), std::uint64_t{1}));
    EXPECT_EQ(transform_reduce(policy, p.first(), p.last(), p.first(), std::uint64_t{0},
                               std::plus<>(), std::equal_to<>()),
              p.end - p.begin);
  });
}

TEST_F(reductions, put_together_in_order_what_need_not_commute) {
  on_many_by_both([](auto const& p, auto policy) {
    std::string expected = "digits: ";
    for (auto i = p.begin; i < p.end; ++i) expected += std::to_string(p.plain[i]);
    auto const digit = [](std::uint64_t item) { return std::to_string(item); };
    EXPECT_EQ(transform_reduce(policy, p.first(), p.last(), std::string("digits: "), std::plus<>(),
                               digit),
              expected);
    EXPECT_EQ(accumulate(p.first(), p.last(), std::string("digits: "),
                         [&](std::string all, std::uint64_t item) { return all + digit(item); }),
              expected);
  });
}

TEST_F(reductions, find_the_least_and_the_greatest_where_the_standard_library_does) {
  on_many_by_both([](auto const& p, auto policy) {
    // Items that compare equal differ.
    auto const less = [](std::uint64_t a, std::uint64_t b) { return a / 5 < b / 5; };
    EXPECT_TRUE(p.same_place(min_element(policy, p.first(), p.last()),
                             std::min_element(p.plain_first(), p.plain_last())));
    EXPECT_TRUE(p.same_place(min_element(policy, p.first(), p.last(), less),
                             std::min_element(p.plain_first(), p.plain_last(), less)));
    EXPECT_TRUE(p.same_place(max_element(policy, p.first(), p.last(), less),
                             std::max_element(p.plain_first(), p.plain_last(), less)));
    auto const both = minmax_element(policy, p.first(), p.last(), less);
    auto const expected = std::minmax_element(p.plain_first(), p.plain_last(), less);
    EXPECT_TRUE(p.same_place(both.first, expected.first));
    EXPECT_TRUE(p.same_place(both.second, expected.second));
  });
}

// All threads look at the second sequence, whose pages come and go meanwhile.
TEST_F(reductions, read_sequences_of_pages_by_other_iterators) {
  on_many_by_both([](auto const& p, auto policy) {
    std::reverse_iterator const last(p.last()), first(p.first());
    std::reverse_iterator const plain_last(p.plain_last());
    auto const expected =
        std::inner_product(p.plain_first(), p.plain_last(), plain_last, std::uint64_t{1});
    EXPECT_EQ(transform_reduce(policy, p.first(), p.last(), last, std::uint64_t{1}), expected);
    EXPECT_EQ(transform_reduce(policy, last, first, p.first(), std::uint64_t{1}), expected);
  });
  auto v = filled<vector<std::uint64_t>>(scratch::numbers(1000, 2));
  page_pool const pool(store, {.page_bytes = 64 * sizeof(std::uint64_t), .cache_pages = 6});
  matrix<std::uint64_t> m(pool, 1000, 10);
  for (std::uint64_t i = 0; i < 1000; ++i) m.column(7)[static_cast<std::ptrdiff_t>(i)] = i;
  auto const column = std::as_const(m).column(7);
  EXPECT_EQ(transform_reduce(par, v, column.begin(), std::uint64_t{0}), 1000U * 999);
}

TEST_F(reductions, cost_a_read_for_each_page) {
  auto v = on_disk(100);
  auto const writes_before = writes();
  auto reads_before = reads();
  EXPECT_EQ(reduce(par, v), 800U * 799 / 2);
  EXPECT_LE(reads() - reads_before, 100U);
  reads_before = reads();
  EXPECT_EQ(max_element(v) - v.begin(), 799);
  EXPECT_LE(reads() - reads_before, 101U);
  reads_before = reads();
  EXPECT_EQ(transform_reduce(par, v, v.begin(), std::uint64_t{0}), 799U * 800 * 1599 / 6);
  EXPECT_LE(reads() - reads_before, 100U);
  EXPECT_EQ(writes(), writes_before);
}

}  // namespace
}  // namespace outsize
