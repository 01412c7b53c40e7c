// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Subspaces and cosets against their enumeration.

#include <outsize/numeric/detail/bit_subspace.hpp>

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

namespace outsize::numeric {
namespace {

std::set<std::uint64_t> all_sums(std::vector<std::uint64_t> const& vectors) {
  std::set<std::uint64_t> sums{0};
  for (auto const v : vectors) {
    std::set<std::uint64_t> const before = sums;
    for (auto const sum : before) sums.insert(sum ^ v);
  }
  return sums;
}

TEST(bit_subspace, lists_each_coset_once_and_in_ascending_order) {
  std::uint64_t const seed = 5;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE("seed 5, round " + std::to_string(round));
    auto const n = static_cast<unsigned>(1 + random() % 9);
    std::vector<std::uint64_t> vectors(random() % (n + 2));
    for (auto& v : vectors) v = random() % (std::uint64_t{1} << n);
    auto const space = bit_subspace::spanned_by(vectors);
    auto const members = all_sums(vectors);
    ASSERT_EQ(members.size(), std::uint64_t{1} << space.dimension());

    std::set<std::uint64_t> seen;
    for (std::uint64_t l = 0; l < std::uint64_t{1} << (n - space.dimension()); ++l) {
      std::uint64_t const least = space.coset(l);
      ASSERT_EQ(space.residue(least), least);
      std::uint64_t last = 0;
      for (std::uint64_t i = 0; i < members.size(); ++i) {
        std::uint64_t const x = least ^ space.vector(i);
        ASSERT_TRUE(i == 0 || x > last);
        ASSERT_EQ(space.coordinates(x), i);
        ASSERT_EQ(space.residue(x), least);
        ASSERT_EQ(space.contains(x), members.contains(x));
        last = x;
        seen.insert(x);
      }
    }
    ASSERT_EQ(seen.size(), std::uint64_t{1} << n);
    ASSERT_EQ(*seen.rbegin(), (std::uint64_t{1} << n) - 1);
  }
}

TEST(bit_subspace, grows_only_by_independent_vectors) {
  bit_subspace space;
  EXPECT_FALSE(space.insert(0));
  EXPECT_TRUE(space.insert(0b110));
  EXPECT_TRUE(space.insert(0b011));
  EXPECT_FALSE(space.insert(0b101));
  EXPECT_EQ(space.dimension(), 2U);
  EXPECT_EQ(space.pivots(), 0b110U);
}

TEST(bit_subspace, moves_bits_by_mask) {
  EXPECT_EQ(extract_bits(0b101100, 0b111000), 0b101U);
  EXPECT_EQ(deposit_bits(0b101, 0b111000), 0b101000U);
  EXPECT_EQ(deposit_bits(~std::uint64_t{0}, ~std::uint64_t{0}), ~std::uint64_t{0});
}

}  // namespace
}  // namespace outsize::numeric
