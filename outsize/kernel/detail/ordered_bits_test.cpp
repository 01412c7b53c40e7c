// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Encoded values compare as the values do, and decode to them again.

#include <outsize/kernel/detail/ordered_bits.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

namespace outsize::detail {
namespace {

using kind = ordered_bits::kind;

template <typename T, typename U>
void expect_ascending(std::vector<T> const& values, kind k) {
  for (bool descending : {false, true}) {
    ordered_bits const bits{k, descending};
    for (std::size_t i = 0; i < values.size(); ++i) {
      U const here = bits.encode(std::bit_cast<U>(values[i]));
      EXPECT_EQ(bits.decode(here), std::bit_cast<U>(values[i])) << values[i];
      if (i == 0) continue;
      U const before = bits.encode(std::bit_cast<U>(values[i - 1]));
      EXPECT_TRUE(descending ? here < before : before < here) << values[i - 1] << ", " << values[i];
    }
  }
}

template <typename F, typename U>
void expect_total_order() {
  using limits = std::numeric_limits<F>;
  expect_ascending<F, U>(
      {-limits::quiet_NaN(), -limits::infinity(), limits::lowest(), F(-1), -limits::min(),
       -limits::denorm_min(), F(-0.0), F(0.0), limits::denorm_min(), limits::min(), F(1),
       limits::max(), limits::infinity(), limits::quiet_NaN()},
      kind::floating_point);
}

TEST(ordered_bits, order_floating_point_totally) {
  expect_total_order<float, std::uint32_t>();
  expect_total_order<double, std::uint64_t>();
}

TEST(ordered_bits, order_integers) {
  using i64 = std::numeric_limits<std::int64_t>;
  using i32 = std::numeric_limits<std::int32_t>;
  expect_ascending<std::int64_t, std::uint64_t>({i64::min(), -2, -1, 0, 1, i64::max()},
                                                kind::signed_integer);
  expect_ascending<std::int32_t, std::uint32_t>({i32::min(), -2, -1, 0, 1, i32::max()},
                                                kind::signed_integer);
  expect_ascending<std::uint32_t, std::uint32_t>({0, 1, 1U << 31, ~0U}, kind::unsigned_integer);
}

TEST(ordered_bits, decode_what_they_encode) {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> values(1000);
  for (auto& v : values) v = random();
  for (auto const k : {kind::unsigned_integer, kind::signed_integer, kind::floating_point})
    for (bool descending : {false, true}) {
      ordered_bits const bits{k, descending};
      auto keys = values;
      bits.encode_all(std::span(keys));
      EXPECT_EQ(keys == values, bits.is_identity());
      bits.decode_all(std::span(keys));
      EXPECT_EQ(keys, values);
    }
}

}  // namespace
}  // namespace outsize::detail
