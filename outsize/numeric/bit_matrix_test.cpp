// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Matrices against their definition entry by entry, the named ones against what they do to an
// index.

#include <outsize/numeric/bit_matrix.hpp>

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <stdexcept>
#include <string>

namespace outsize::numeric {
namespace {

bit_matrix random_matrix(unsigned size, std::mt19937_64& random) {
  bit_matrix result(size);
  for (unsigned i = 0; i < size; ++i) result.set_row(i, random() & low_bits(size));
  return result;
}

std::string message_of(auto const& action) {
  try {
    action();
  } catch (std::invalid_argument const& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST(bit_matrix, applies_as_the_sum_over_entries) {
  std::uint64_t const seed = 3;
  std::mt19937_64 random(seed);
  SCOPED_TRACE("seed 3");
  for (unsigned size : {0U, 1U, 2U, 7U, 33U, 64U}) {
    bit_matrix const a = random_matrix(size, random);
    std::uint64_t const x = random() & low_bits(size);
    std::uint64_t sum = 0;
    for (unsigned j = 0; j < size; ++j)
      if ((x >> j & 1) != 0) sum ^= a.column(j);
    EXPECT_EQ(a.apply(x), sum);
    EXPECT_EQ(bit_matrix::from_columns(a.columns()), a);
    EXPECT_EQ(a.transposed().transposed(), a);
    EXPECT_EQ(bit_matrix::parse(a.text()), a);
  }
}

TEST(bit_matrix, multiplies_and_inverts) {
  std::uint64_t const seed = 4;
  std::mt19937_64 random(seed);
  SCOPED_TRACE("seed 4");
  int regular = 0;
  for (int round = 0; round < 300; ++round) {
    auto const size = static_cast<unsigned>(1 + random() % 64);
    bit_matrix const a = random_matrix(size, random), b = random_matrix(size, random);
    std::uint64_t const x = random() & low_bits(size);
    ASSERT_EQ((a * b).apply(x), a.apply(b.apply(x)));
    ASSERT_EQ(a.try_inverse().has_value(), a.rank() == size);
    if (a.rank() < size) continue;
    ++regular;
    ASSERT_EQ(a * a.inverse(), bit_matrix::identity(size));
    affine_map const f{a, x};
    ASSERT_EQ(compose(f, f.inverse()), (affine_map{bit_matrix::identity(size), 0}));
    affine_map const g{b, random() & low_bits(size)};
    ASSERT_EQ(compose(f, g).apply(x), f.apply(g.apply(x)));
  }
  EXPECT_GT(regular, 50);
}

TEST(bit_matrix, names_the_rank_of_a_singular_matrix) {
  bit_matrix a = bit_matrix::identity(5);
  a.set_row(2, a.row(0) ^ a.row(4));
  EXPECT_EQ(message_of([&] { (void)a.inverse(); }), "singular matrix of rank 4, need 5");
}

TEST(bit_matrix, knows_the_rank_of_a_block) {
  bit_matrix const a = bit_matrix::bit_reversal(10);
  EXPECT_EQ(a.rank({3, 10}, {0, 3}), 3U);
  EXPECT_EQ(a.rank({8, 10}, {0, 8}), 2U);
  EXPECT_EQ(a.rank({0, 5}, {0, 5}), 0U);
  EXPECT_EQ(a.rank({4, 4}, {0, 10}), 0U);
}

TEST(bit_matrix, has_the_named_permutations) {
  for (std::uint64_t x = 0; x < 128; ++x) {
    std::uint64_t reversed = 0;
    for (unsigned i = 0; i < 7; ++i) reversed |= (x >> i & 1) << (6 - i);
    EXPECT_EQ(bit_matrix::bit_reversal(7).apply(x), reversed);
    EXPECT_EQ(bit_matrix::gray_code(7).apply(x), x ^ (x >> 1));
    EXPECT_EQ(bit_matrix::inverse_gray_code(7).apply(x ^ (x >> 1)), x);
    // 4 rows, 32 columns.
    EXPECT_EQ(bit_matrix::transposition(2, 5).apply(x), x % 32 * 4 + x / 32);
  }
  std::array<unsigned, 3> const rotation{1, 2, 0};
  EXPECT_EQ(bit_matrix::from_bit_permutation(rotation).apply(0b011), 0b110U);
  EXPECT_EQ(bit_matrix::from_bit_permutation(rotation).apply(0b100), 0b001U);
}

TEST(bit_matrix, refuses_what_is_no_bit_permutation) {
  std::array<unsigned, 3> const twice{1, 1, 0}, beyond{1, 3, 0};
  EXPECT_EQ(message_of([&] { (void)bit_matrix::from_bit_permutation(twice); }),
            "bit permutation: two bits go to bit 1, the second is 1");
  EXPECT_EQ(message_of([&] { (void)bit_matrix::from_bit_permutation(beyond); }),
            "bit permutation: bit 1 goes to 3, need less than 3");
}

TEST(bit_matrix, reads_lines_of_digits) {
  EXPECT_EQ(bit_matrix::parse("# swap\n0 1\n\n10\n"), bit_matrix::bit_reversal(2));
  EXPECT_EQ(bit_matrix::parse(""), bit_matrix());
  EXPECT_EQ(message_of([] { (void)bit_matrix::parse("01\n0x\n"); }),
            "bit matrix, line 2: 'x' is neither 0 nor 1");
  EXPECT_EQ(message_of([] { (void)bit_matrix::parse("01\n011\n"); }),
            "bit matrix, line 2: row 1 has 3 columns, need 2 rows of 2 columns");
  EXPECT_EQ(message_of([] { (void)bit_matrix::parse("01\n10\n11"); }),
            "bit matrix, line 3: row 2 has 2 columns, need 2 rows of 2 columns");
  EXPECT_EQ(message_of([] { (void)bit_matrix::parse("010\n"); }),
            "bit matrix: 1 rows of 3 columns, need as many rows as columns");
  EXPECT_EQ(message_of([] { (void)bit_matrix::parse(std::string(65, '0')); }),
            "bit matrix, line 1: more than 64 columns");
  EXPECT_EQ(message_of([] { (void)bit_matrix(65); }), "a bit matrix has at most 64 rows, not 65");
}

}  // namespace
}  // namespace outsize::numeric
