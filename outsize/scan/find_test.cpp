// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Searches and comparisons against the standard library's; how far they read.

#include <outsize/scan/find.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include <outsize/testing/paged_pair.hpp>

namespace outsize {
namespace {

struct searches : scratch::paged_pairs {};

TEST_F(searches, find_the_first_of_several) {
  on_many_by_both(
      [](auto const& p, auto policy) {
        for (std::uint64_t const value : {0U, 3U, 60U}) {
          auto const is_it = [&](std::uint64_t x) { return x == value; };
          auto const found = std::find(p.plain_first(), p.plain_last(), value);
          EXPECT_TRUE(p.same_place(find(policy, p.first(), p.last(), value), found));
          EXPECT_TRUE(
              p.same_place(find(policy, p.first(), p.last(), double(value) + 0.5), p.plain_last()))
              << "compared as it is, not as an item";
          EXPECT_TRUE(p.same_place(find_if(policy, p.first(), p.last(), is_it), found));
          EXPECT_EQ(any_of(policy, p.first(), p.last(), is_it), found != p.plain_last());
          EXPECT_EQ(none_of(policy, p.first(), p.last(), is_it), found == p.plain_last());
          EXPECT_TRUE(p.same_place(find_if_not(policy, p.first(), p.last(), is_it),
                                   std::find_if_not(p.plain_first(), p.plain_last(), is_it)));
          EXPECT_EQ(all_of(policy, p.first(), p.last(), is_it),
                    std::all_of(p.plain_first(), p.plain_last(), is_it));
        }
      },
      50);
}

TEST_F(searches, find_neighbours) {
  on_many_by_both(
      [](auto const& p, auto policy) {
        EXPECT_TRUE(p.same_place(adjacent_find(policy, p.first(), p.last()),
                                 std::adjacent_find(p.plain_first(), p.plain_last())));
        EXPECT_TRUE(
            p.same_place(adjacent_find(policy, p.first(), p.last(), std::greater<>()),
                         std::adjacent_find(p.plain_first(), p.plain_last(), std::greater<>())));
      },
      100);
}

TEST_F(searches, compare_sequences) {
  on_many_by_both([this](auto const& p, auto policy) {
    scratch::numbers other(p.plain_first(), p.plain_last());
    if (!other.empty() && p.random() % 2 == 0) other[p.random() % other.size()] = 11;
    if (p.random() % 3 == 0) other.resize(p.random() % (other.size() + 5));
    auto const paged_other = filled<vector<std::uint64_t>>(other, 5);
    auto const expected =
        std::mismatch(p.plain_first(), p.plain_last(), other.begin(), other.end());
    auto const found =
        mismatch(policy, p.first(), p.last(), paged_other.begin(), paged_other.end());
    EXPECT_TRUE(p.same_place(found.first, expected.first));
    EXPECT_EQ(found.second - paged_other.begin(), expected.second - other.begin());
    bool const same = std::equal(p.plain_first(), p.plain_last(), other.begin(), other.end());
    EXPECT_EQ(equal(policy, p.first(), p.last(), paged_other.begin(), paged_other.end()), same);
    EXPECT_EQ(equal(policy, other.begin(), other.end(), p.first(), p.last()), same);
    EXPECT_TRUE(equal(policy, p.first(), p.last(), p.plain_first()));
    EXPECT_TRUE(equal(policy, p.paged, p.paged, std::equal_to<>()));
    EXPECT_EQ(
        lexicographical_compare(policy, p.first(), p.last(), paged_other.begin(),
                                paged_other.end()),
        std::lexicographical_compare(p.plain_first(), p.plain_last(), other.begin(), other.end()));
    EXPECT_EQ(lexicographical_compare(policy, paged_other, p.paged, std::greater<>()),
              std::ranges::lexicographical_compare(other, p.plain, std::ranges::greater()));
  });
}

TEST_F(searches, read_no_further_than_ahead_and_write_nothing) {
  auto v = on_disk(100);
  auto const reads_before = reads(), writes_before = writes();
  EXPECT_EQ(find(v, 160U) - v.begin(), 160);  // in page 20; v may be changed, but is not
  EXPECT_LE(reads() - reads_before, 21U + 3);
  EXPECT_EQ(find(par, v, 1'000U), v.end());
  EXPECT_LE(reads() - reads_before, 124U);
  EXPECT_EQ(writes(), writes_before);
}

}  // namespace
}  // namespace outsize
