// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// What is random must be repeatable, and roughly even.
#include <outsize/text/random_salt.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>

namespace outsize::text {
namespace {

TEST(random_salt, repeats_itself_and_nothing_else) {
  std::set<std::uint64_t> numbers;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto const salt = random_salt::of_seed(seed);
    EXPECT_EQ(salt, random_salt::of_seed(seed));
    random_numbers sequence(salt);
    for (std::uint64_t i = 0; i < 20; ++i) {
      EXPECT_EQ(sequence.next(), salt.number(i));
      numbers.insert(salt.number(i));
    }
  }
  EXPECT_EQ(numbers.size(), 400U);
  EXPECT_NE(random_salt::of_system(), random_salt::of_system());
}

TEST(random_salt, gives_the_same_on_every_machine) {
  auto const digest = random_salt{}.digest("a");
  EXPECT_EQ(digest.high, 0x0531103ad8fc7dd4U);
  EXPECT_EQ(digest.low, 0xf972d98e4750994eU);
  EXPECT_EQ(random_salt::of_seed(5).number(3), 0xc7ea8aa39412a82bU);
}

TEST(random_numbers, are_below_their_limit_and_even) {
  random_numbers numbers(random_salt::of_seed(7));
  std::array<int, 6> dice{};
  for (int i = 0; i < 6000; ++i) ++dice.at(numbers.below(6));
  for (int const count : dice) EXPECT_NEAR(count, 1000, 150);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(numbers.below(1), 0U);
  EXPECT_LT(numbers.below(~std::uint64_t{0}), ~std::uint64_t{0});
}

}  // namespace
}  // namespace outsize::text
