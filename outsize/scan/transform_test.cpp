// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Copies and transforms against the standard library's; what they cost.

#include <outsize/scan/transform.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <list>
#include <stdexcept>
#include <utility>

#include <outsize/container/matrix.hpp>
#include <outsize/page/page_pool.hpp>
#include <outsize/testing/paged_pair.hpp>

namespace outsize {
namespace {

struct transforms : scratch::paged_pairs {
  static std::uint64_t thrice(std::uint64_t x) { return 3 * x; }
};

TEST_F(transforms, work_in_place) {
  on_many_by_both([](auto const& p, auto policy) {
    EXPECT_EQ(transform(policy, p.first(), p.last(), p.first(), thrice), p.last());
    std::transform(p.plain_first(), p.plain_last(), p.plain_first(), thrice);
  });
}

TEST_F(transforms, work_on_two_sequences_into_a_third) {
  on_many_by_both([this](auto const& p, auto policy) {
    auto const count = p.plain_last() - p.plain_first();
    scratch::numbers const other = some(p.plain.size() + 1, p.random, 100);
    auto const paged_other = filled<vector<std::uint64_t>>(other);
    auto out = filled<vector<std::uint64_t>>(scratch::numbers(p.plain.size() + 1));
    transform(policy, p.first(), p.last(), paged_other.begin(), out.begin() + 1, std::minus<>());
    transform(policy, p.first(), p.last(), other.begin() + 1, p.first(), std::plus<>());
    for (std::ptrdiff_t i = 0; i < count; ++i)
      ASSERT_EQ(out[static_cast<std::uint64_t>(i) + 1], p.plain_first()[i] - other.begin()[i]);
    std::transform(p.plain_first(), p.plain_last(), other.begin() + 1, p.plain_first(),
                   std::plus<>());
  });
}

TEST_F(transforms, take_whole_ranges_and_outputs_of_any_kind) {
  auto const v = filled<vector<std::uint64_t>>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  std::list<std::uint64_t> list;
  transform(v, std::front_inserter(list), thrice);
  EXPECT_EQ(list.front(), 30U);
  EXPECT_EQ(list.size(), 10U);
  scratch::numbers const four = {10, 20, 30, 40};
  scratch::numbers sums;
  transform(v, four.begin(), four.end(), std::back_inserter(sums), std::plus<>());
  EXPECT_EQ(sums, (scratch::numbers{11, 22, 33, 44}));
  scratch::numbers copies(10);
  EXPECT_EQ(copy(par, v, copies.begin()), copies.end());
  EXPECT_TRUE(std::ranges::equal(copies, v));
  auto w = filled<deque<std::uint64_t>>(scratch::numbers(12));
  EXPECT_EQ(copy(copies.begin(), copies.end(), w.begin() + 2), w.end());
  EXPECT_EQ(w.back(), 10U);
  scratch::numbers even = {7};
  copy_if(v, std::inserter(even, even.begin()), [](auto x) { return x % 2 == 0; });
  EXPECT_EQ(even, (scratch::numbers{2, 4, 6, 8, 10, 7}));
}

TEST_F(transforms, copy_forward_within_one_vector) {
  on_many([](auto const& p) {
    auto const to = static_cast<std::ptrdiff_t>(p.random() % (p.begin + 1));
    auto const end = copy(p.first(), p.last(), p.paged.begin() + to);
    EXPECT_TRUE(
        p.same_place(end, std::copy(p.plain_first(), p.plain_last(), p.plain.begin() + to)));
  });
}

/// Each item of the column is in another page, and to be changed, as far as iterators know.
TEST_F(transforms, copy_a_column_of_a_matrix_in_the_same_pool) {
  page_pool pool(store, {.page_bytes = 512, .cache_pages = 6, .spare_pages = 2});
  matrix<std::uint64_t> m(pool, 100, 100);
  vector<std::uint64_t> v(pool);
  v.resize(100);
  for (std::uint64_t i = 0; i < 100; ++i) m(i, 3) = i * i + 1;
  auto const column = m.column(3);
  copy(column.begin(), column.end(), v.begin());
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(std::as_const(v)[i], i * i + 1);
}

TEST_F(transforms, copy_what_is_wanted_and_leave_the_rest) {
  on_many_by_both([this](auto const& p, auto policy) {
    scratch::numbers plain_out = some(p.plain.size(), p.random, 1000);
    auto out = filled<deque<std::uint64_t>>(plain_out);
    auto const odd = [](std::uint64_t x) { return x % 2 == 1; };
    auto const end = copy_if(policy, p.first(), p.last(), out.begin(), odd);
    EXPECT_EQ(
        end - out.begin(),
        std::copy_if(p.plain_first(), p.plain_last(), plain_out.begin(), odd) - plain_out.begin());
    EXPECT_TRUE(std::ranges::equal(std::as_const(out), plain_out));
  });
}

TEST_F(transforms, see_zeros_where_nothing_was_written_until_they_replace_them) {
  // Such pages are shown in pieces, while they are replaced.
  vector<std::uint64_t> v(store, {.page_bytes = 16_KiB, .cache_pages = 4, .spare_pages = 1});
  for (int i = 0; i < 30'000; ++i) v.push_back(7);
  auto const used = v.size() / v.page_items() * v.page_items();
  v.resize(used);
  v.resize(2 * used);
  auto const one_more = [](std::uint64_t x) { return x + 1; };
  transform(v, v.begin(), one_more);
  EXPECT_EQ(std::ranges::count(std::as_const(v), 1U), static_cast<std::ptrdiff_t>(used));
  v.resize(used);
  v.resize(2 * used);
  transform(par, v, v.begin(), one_more);
  EXPECT_EQ(std::ranges::count(std::as_const(v), 1U), static_cast<std::ptrdiff_t>(used));
  EXPECT_EQ(std::ranges::count(std::as_const(v), 9U), static_cast<std::ptrdiff_t>(used));
}

TEST_F(transforms, leave_their_inputs_and_other_pages_as_they_were_where_a_function_throws) {
  auto const v = on_disk(100);
  auto const fails = [](std::uint64_t x, auto...) -> std::uint64_t {
    if (x == 500) throw std::runtime_error("five hundred");
    return x + 1;
  };
  auto const expect_first_500 = [&](vector<std::uint64_t> const& w, std::uint64_t offset) {
    EXPECT_EQ(w.size(), 800U);
    for (std::uint64_t i = 0; i < 496; ++i) ASSERT_EQ(w[i], i + offset);
    for (std::uint64_t i = 504; i < 800; ++i) ASSERT_EQ(w[i], i);
  };
  auto w = on_disk(100);
  EXPECT_THROW(transform(v, w.begin(), fails), std::runtime_error);
  expect_first_500(w, 1);
  EXPECT_THROW(transform(w, v.begin(), w.begin(), fails), std::runtime_error) << "in place";
  expect_first_500(w, 2);
  EXPECT_THROW(copy_if(v, w.begin(), fails), std::runtime_error);
  for (std::uint64_t i = 0; i < 800; ++i) w[i] = i;
  EXPECT_THROW(transform(par, v, w.begin(), fails), std::runtime_error);
  EXPECT_THROW(transform(par, v, v.begin(), w.begin(), fails), std::runtime_error);
  EXPECT_THROW(copy_if(par, v, w.begin(), fails), std::runtime_error);
  EXPECT_EQ(w.size(), 800U);
  for (std::uint64_t i = 0; i < 800; ++i) ASSERT_EQ(v[i], i);
  copy(v, w.begin());
  EXPECT_TRUE(v == w);
}

TEST_F(transforms, cost_a_read_for_each_page_of_the_input_and_a_write_for_each_of_the_output) {
  auto v = on_disk(100), w = on_disk(100);
  auto reads_before = reads(), writes_before = writes();
  transform(v, w.begin(), thrice);
  w.flush();
  EXPECT_LE(reads() - reads_before, 100U);
  EXPECT_LE(writes() - writes_before, 102U);
  reads_before = reads(), writes_before = writes();
  copy(par, v, w.begin());
  w.flush();
  EXPECT_LE(reads() - reads_before, 100U);
  EXPECT_LE(writes() - writes_before, 102U);
  reads_before = reads(), writes_before = writes();
  transform(par, v, v.begin(), thrice);
  v.flush();
  EXPECT_LE(reads() - reads_before, 100U);
  EXPECT_LE(writes() - writes_before, 102U);
}

}  // namespace
}  // namespace outsize
