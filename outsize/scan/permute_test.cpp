// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Reversals, rotations and exchanges against the standard library's; what they cost.

#include <outsize/scan/permute.hpp>

#include <gtest/gtest.h>

#include <algorithm>

#include <outsize/testing/paged_pair.hpp>

namespace outsize {
namespace {

struct permutations : scratch::paged_pairs {};

TEST_F(permutations, reverse_a_part) {
  on_many_by_both([](auto const& p, auto policy) {
    reverse(policy, p.first(), p.last());
    std::reverse(p.plain_first(), p.plain_last());
  });
}

TEST_F(permutations, rotate_a_part) {
  on_many_by_both([](auto const& p, auto policy) {
    auto const by = static_cast<std::ptrdiff_t>(p.random() % (p.end - p.begin + 1));
    EXPECT_TRUE(p.same_place(rotate(policy, p.first(), p.first() + by, p.last()),
                             std::rotate(p.plain_first(), p.plain_first() + by, p.plain_last())));
  });
}

TEST_F(permutations, exchange_parts) {
  on_many_by_both([this](auto const& p, auto policy) {
    auto other = filled<vector<std::uint64_t>>(scratch::numbers(p.plain.size() + 3, 17), 5);
    auto const count = p.plain_last() - p.plain_first();
    auto const end = swap_ranges(policy, p.first(), p.last(), other.begin() + 3);
    ASSERT_EQ(end - other.begin(), count + 3);
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      ASSERT_EQ(other.begin()[i + 3], p.plain_first()[i]);
      p.plain_first()[i] = 17;
    }
    auto const half = count / 2;
    swap_ranges(policy, p.first(), p.first() + half, p.first() + half);
  });
}

TEST_F(permutations, cost_what_they_say) {
  auto v = on_disk(100);
  auto reads_before = reads(), writes_before = writes();
  reverse(v);
  v.flush();
  EXPECT_LE(reads() - reads_before, 101U);
  EXPECT_LE(writes() - writes_before, 102U);
  reads_before = reads(), writes_before = writes();
  rotate(v.begin(), v.begin() + 300, v.end());
  v.flush();
  EXPECT_LE(reads() - reads_before, 203U);
  EXPECT_LE(writes() - writes_before, 205U);
}

}  // namespace
}  // namespace outsize
