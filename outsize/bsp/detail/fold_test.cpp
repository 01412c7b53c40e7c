// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/detail/fold.hpp>

#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

namespace outsize::bsp::detail {
namespace {

using op = fold_operation;
using type = number_type;

template <typename T>
T folded(op operation, type of, T a, T const& b) {
  fold_function const fold = fold_of(operation, of);
  EXPECT_NE(fold, nullptr);
  EXPECT_EQ(bytes_of(of), sizeof(T));
  fold(&a, &b, 1);
  return a;
}

TEST(fold, computes_with_integers) {
  EXPECT_EQ(folded<std::int32_t>(op::sum, type::int32, -5, 7), 2);
  EXPECT_EQ(folded<std::int16_t>(op::max, type::int16, -5, -7), -5);
  EXPECT_EQ(folded<std::int8_t>(op::min, type::int8, -5, -7), -7);
  EXPECT_EQ(folded<std::uint64_t>(op::product, type::uint64, 1ULL << 40, 3), 3ULL << 40);
  EXPECT_EQ(folded<std::uint16_t>(op::product, type::uint16, 65535, 65535), 1);
  EXPECT_EQ(folded<std::int64_t>(op::sum, type::int64, std::numeric_limits<std::int64_t>::max(), 1),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(folded<std::int32_t>(op::product, type::int32, -3, 5), -15);
  EXPECT_EQ(folded<std::uint8_t>(op::bit_xor, type::uint8, 0x0f, 0x3c), 0x33);
  EXPECT_EQ(folded<std::uint32_t>(op::bit_and, type::uint32, 0x0f, 0x3c), 0x0cU);
  EXPECT_EQ(folded<std::uint32_t>(op::bit_or, type::uint32, 0x0f, 0x30), 0x3fU);
  EXPECT_EQ(folded<std::int32_t>(op::logical_and, type::int32, 4, 2), 1);
  EXPECT_EQ(folded<std::int32_t>(op::logical_or, type::int32, 0, 0), 0);
  EXPECT_EQ(folded<std::int32_t>(op::logical_xor, type::int32, 4, 2), 0);
}

TEST(fold, computes_with_other_numbers) {
  EXPECT_EQ(folded(op::sum, type::float32, 1.5F, 2.0F), 3.5F);
  EXPECT_EQ(folded(op::max, type::float64, 1.5, -2.0), 1.5);
  EXPECT_EQ(folded(op::product, type::float_long, 1.5L, 2.0L), 3.0L);
  EXPECT_EQ(folded(op::logical_xor, type::boolean, true, false), true);
  std::complex<double> const a(1, 2);
  std::complex<double> const b(3, -1);
  EXPECT_EQ(folded(op::product, type::complex64, a, b), a * b);
  EXPECT_EQ(folded(op::sum, type::complex64, a, b), a + b);
  EXPECT_EQ(folded<unsigned char>(op::bit_or, type::byte, 1, 2), 3);
}

struct placed {
  double value;
  int index;
  friend bool operator==(placed const&, placed const&) = default;
};

TEST(fold, finds_places) {
  EXPECT_EQ(folded(op::max_place, type::double_int, placed{1, 5}, placed{2, 7}), (placed{2, 7}));
  EXPECT_EQ(folded(op::max_place, type::double_int, placed{2, 7}, placed{2, 5}), (placed{2, 5}));
  EXPECT_EQ(folded(op::min_place, type::double_int, placed{1, 5}, placed{2, 7}), (placed{1, 5}));
  EXPECT_EQ(folded(op::min_place, type::double_int, placed{2, 5}, placed{2, 7}), (placed{2, 5}));
}

TEST(fold, goes_through_all_numbers) {
  std::vector<std::int32_t> into = {1, 2, 3, 4};
  std::array<std::int32_t, 3> const from = {10, 20, 30};
  fold_of(op::sum, type::int32)(into.data(), from.data(), 3);
  EXPECT_EQ(into, (std::vector<std::int32_t>{11, 22, 33, 4}));
}

TEST(fold, knows_how_structs_are_laid_out) {
  EXPECT_EQ(bytes_of(type::double_int), sizeof(placed));
  EXPECT_EQ(alignment_of(type::double_int), alignof(placed));
  EXPECT_EQ(alignment_of(type::short_int), alignof(int));
  EXPECT_EQ(alignment_of(type::complex64), alignof(double));
  EXPECT_EQ(alignment_of(type::byte), 1U);
}

TEST(fold, does_not_define_what_mpi_does_not) {
  EXPECT_EQ(fold_of(op::bit_and, type::float64), nullptr);
  EXPECT_EQ(fold_of(op::logical_or, type::float32), nullptr);
  EXPECT_EQ(fold_of(op::max, type::complex32), nullptr);
  EXPECT_EQ(fold_of(op::sum, type::byte), nullptr);
  EXPECT_EQ(fold_of(op::max_place, type::int32), nullptr);
  EXPECT_EQ(fold_of(op::sum, type::two_int), nullptr);
  EXPECT_EQ(fold_of(op::sum, type::boolean), nullptr);
}

}  // namespace
}  // namespace outsize::bsp::detail
