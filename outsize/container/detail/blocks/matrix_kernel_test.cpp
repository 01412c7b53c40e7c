// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Products of blocks of every type against the definition; threads of OpenBLAS put back.

#include <outsize/container/detail/blocks/matrix_kernel.hpp>

#include <cblas.h>
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <random>
#include <vector>

namespace outsize::detail {
namespace {

template <typename T>
struct kernels : testing::Test {};
using item_types = testing::Types<float, double, std::complex<float>, std::complex<double>,
                                  std::int32_t, std::uint64_t, std::uint16_t, std::int8_t>;
TYPED_TEST_SUITE(kernels, item_types);

static_assert(matrix_item<double> && matrix_item<std::complex<float>> && matrix_item<char>);
static_assert(!matrix_item<bool> && !matrix_item<int*> && !matrix_item<std::vector<int>>);

/// Small whole numbers, so that the products of all types are exact.
template <typename T>
std::vector<T> random_items(std::mt19937_64& random, std::size_t count) {
  std::vector<T> items(count);
  auto const part = [&] { return static_cast<std::int8_t>(random() % 8); };
  for (T& item : items) {
    if constexpr (std::is_arithmetic_v<T>)
      item = static_cast<T>(part());
    else
      item = T(part(), part());
  }
  return items;
}

TYPED_TEST(kernels, add_the_product_and_leave_the_rest_alone) {
  using T = TypeParam;
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 60; ++round) {
    std::size_t const rows = 1 + random() % 20, columns = 1 + random() % 20,
                      inner = 1 + random() % 20;
    bool const a_transposed = random() % 2 == 0, b_transposed = random() % 2 == 0;
    block_product const how{.rows = rows,
                            .columns = columns,
                            .inner = inner,
                            .c_stride = columns + random() % 3,
                            .a_stride = (a_transposed ? rows : inner) + random() % 3,
                            .b_stride = (b_transposed ? inner : columns) + random() % 3,
                            .a_transposed = a_transposed,
                            .b_transposed = b_transposed};
    auto const a = random_items<T>(random, (a_transposed ? inner : rows) * how.a_stride);
    auto const b = random_items<T>(random, (b_transposed ? columns : inner) * how.b_stride);
    auto c = random_items<T>(random, rows * how.c_stride);
    auto expected = c;
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        for (std::size_t k = 0; k < inner; ++k)
          expected[i * how.c_stride + j] =
              static_cast<T>(expected[i * how.c_stride + j] +
                             a[a_transposed ? k * how.a_stride + i : i * how.a_stride + k] *
                                 b[b_transposed ? j * how.b_stride + k : k * how.b_stride + j]);
    add_product(c.data(), a.data(), b.data(), how);
    ASSERT_EQ(c, expected);
  }
}

TYPED_TEST(kernels, transpose_what_is_larger_than_a_square) {
  using T = TypeParam;
  std::mt19937_64 random(1);
  std::size_t const rows = 70, columns = 45;
  auto const from = random_items<T>(random, rows * 50);
  std::vector<T> into(columns * 72);
  transpose_block(into.data(), 72, from.data(), 50, rows, columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) ASSERT_EQ(into[j * 72 + i], from[i * 50 + j]);
}

TEST(integer_arithmetic, wraps_around) {
  EXPECT_EQ(product_of<std::uint16_t>(65535, 65535), 1);
  EXPECT_EQ(sum_of<std::int32_t>(INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(difference_of<std::int8_t>(-128, 1), 127);
  EXPECT_EQ(product_of<std::int64_t>(INT64_MIN, -1), INT64_MIN);
}

TEST(one_blas_thread, puts_back_what_the_process_had) {
  int const before = openblas_get_num_threads();
  {
    one_blas_thread const outer;
    {
      one_blas_thread const inner;
      EXPECT_EQ(openblas_get_num_threads(), 1);
    }
    EXPECT_EQ(openblas_get_num_threads(), 1);
  }
  EXPECT_EQ(openblas_get_num_threads(), before);
}

}  // namespace
}  // namespace outsize::detail
