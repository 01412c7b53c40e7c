// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/mixed_bits.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace outsize::detail {
namespace {

TEST(mixed_bits, are_those_of_splitmix64) {  // from the state 0
  EXPECT_EQ(mixed_bits(mixed_step), 0xe220a8397b1dcdafU);
  EXPECT_EQ(mixed_bits(2 * mixed_step), 0x6e789e6aa1b965f4U);
  EXPECT_EQ(mixed_bits(3 * mixed_step), 0x06c45d188009454fU);
}

TEST(mixed_bits, are_scaled_in_their_order) {
  EXPECT_EQ(scaled_bits(0, 10), 0U);
  EXPECT_EQ(scaled_bits(std::uint64_t{1} << 63, 10), 5U);
  EXPECT_EQ(scaled_bits(std::numeric_limits<std::uint64_t>::max(), 10), 9U);
  EXPECT_EQ(scaled_bits(std::numeric_limits<std::uint64_t>::max(), 0), 0U);
}

}  // namespace
}  // namespace outsize::detail
