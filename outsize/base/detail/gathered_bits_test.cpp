// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Against the definition, bit by bit; what was gathered is scattered to where it was.

#include <outsize/base/detail/gathered_bits.hpp>

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace outsize::detail {
namespace {

std::uint64_t gathered(std::uint64_t word, std::uint64_t kept) {
  std::uint64_t bits = 0;
  for (unsigned at = 0, to = 0; at < 64; ++at)
    if ((kept >> at & 1) != 0) bits |= (word >> at & 1) << to++;
  return bits;
}

/// So many of the lowest bits of each byte.
std::uint64_t random_kept(std::mt19937_64& random) {
  std::uint64_t kept = 0;
  for (unsigned at = 0; at < 64; at += 8) kept |= ((std::uint64_t{1} << random() % 9) - 1) << at;
  return kept;
}

template <typename Bits>
void expect_gathered(std::uint64_t word, std::uint64_t kept) {
  std::uint64_t const bits = Bits::gather(word, kept);
  EXPECT_EQ(bits, gathered(word, kept)) << std::hex << word << ' ' << kept;
  EXPECT_EQ(Bits::scatter(bits, kept), word & kept) << std::hex << word << ' ' << kept;
}

template <typename Bits>
void expect_all_gathered() {
  std::uint64_t const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (std::uint64_t const word : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    expect_gathered<Bits>(word, 0);
    expect_gathered<Bits>(word, ~std::uint64_t{0});
    expect_gathered<Bits>(word, 0xFF00'0000'0000'00FF);
  }
  for (int i = 0; i < 10'000; ++i) expect_gathered<Bits>(random(), random_kept(random));
}

TEST(gathered_bits, by_arithmetic_are_those_that_are_kept) {
  expect_all_gathered<bit_arithmetic>();
}

TEST(gathered_bits, by_instructions_are_the_same) {
  if (!has_fast_bit_instructions()) GTEST_SKIP() << "this processor has no fast ones";
  expect_all_gathered<bit_instructions>();
}

}  // namespace
}  // namespace outsize::detail
