// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Products of blocks in memory: by OpenBLAS for the four types that it knows, otherwise by loops.
//
// A block lies row by row. Any thread may multiply blocks; to different results at once. The
// library's threads are those of a storage, so OpenBLAS is held to one thread for each call while
// a one_blas_thread lives: that is a setting of the whole process, and is put back afterwards.
// Layer: container.

#include <algorithm>
#include <complex>
#include <concepts>
#include <cstddef>
#include <type_traits>

#include <outsize/base/external_item.hpp>

namespace outsize {

/// What a matrix can be of: items with sums and products, whose zero is bytes of zero. Products of
/// matrices of float, double and complex numbers of these are as fast as OpenBLAS; integers are
/// computed modulo 2^bits.
template <typename T>
concept matrix_item = external_item<T> && !std::same_as<T, bool> && requires(T const a, T const b) {
  { a + b } -> std::convertible_to<T>;
  { a - b } -> std::convertible_to<T>;
  { a* b } -> std::convertible_to<T>;
};

}  // namespace outsize

namespace outsize::detail {

/// C += op(A) · op(B), where C has rows · columns items and op(A) rows · inner. A stride is the
/// distance of two rows of a block as it lies in memory, in items.
struct block_product {
  std::size_t rows = 0, columns = 0, inner = 0;
  std::size_t c_stride = 0, a_stride = 0, b_stride = 0;
  bool a_transposed = false, b_transposed = false;
};

void add_product(float* c, float const* a, float const* b, block_product const& how) noexcept;
void add_product(double* c, double const* a, double const* b, block_product const& how) noexcept;
void add_product(std::complex<float>* c, std::complex<float> const* a, std::complex<float> const* b,
                 block_product const& how) noexcept;
void add_product(std::complex<double>* c, std::complex<double> const* a,
                 std::complex<double> const* b, block_product const& how) noexcept;

/// As long as one lives, OpenBLAS computes in the thread that calls it alone. Any number, in any
/// threads.
class one_blas_thread {
 public:
  one_blas_thread();
  one_blas_thread(one_blas_thread const&) = delete;
  one_blas_thread& operator=(one_blas_thread const&) = delete;
  ~one_blas_thread();
};

/// What integers are computed with, so that none overflows.
template <typename T>
struct arithmetic_of {
  using type = T;
};
template <std::integral T>
struct arithmetic_of<T> {
  using type = std::make_unsigned_t<decltype(T{} + T{})>;
};
template <typename T>
using arithmetic_t = typename arithmetic_of<T>::type;

template <typename T>
T sum_of(T const& a, T const& b) {
  return static_cast<T>(static_cast<arithmetic_t<T>>(a) + static_cast<arithmetic_t<T>>(b));
}
template <typename T>
T difference_of(T const& a, T const& b) {
  return static_cast<T>(static_cast<arithmetic_t<T>>(a) - static_cast<arithmetic_t<T>>(b));
}
template <typename T>
T product_of(T const& a, T const& b) {
  return static_cast<T>(static_cast<arithmetic_t<T>>(a) * static_cast<arithmetic_t<T>>(b));
}

/// Of any other items: B is gone through by rows that fit in the cache of a processor.
template <typename T>
void add_product(T* c, T const* a, T const* b, block_product const& how) {
  constexpr std::size_t strip = std::max<std::size_t>(4096 / sizeof(T), 8);
  for (std::size_t j0 = 0; j0 < how.columns; j0 += strip) {
    std::size_t const j1 = std::min(j0 + strip, how.columns);
    for (std::size_t i = 0; i < how.rows; ++i)
      for (std::size_t k = 0; k < how.inner; ++k) {
        T const left = a[how.a_transposed ? k * how.a_stride + i : i * how.a_stride + k];
        T* const out = c + i * how.c_stride;
        if (how.b_transposed)
          for (std::size_t j = j0; j < j1; ++j)
            out[j] = sum_of(out[j], product_of(left, b[j * how.b_stride + k]));
        else
          for (std::size_t j = j0; j < j1; ++j)
            out[j] = sum_of(out[j], product_of(left, b[k * how.b_stride + j]));
      }
  }
}

/// into = from transposed, where `from` has rows · columns items; squares that fit in the cache of
/// a processor, one after the other.
template <typename T>
void transpose_block(T* into, std::size_t into_stride, T const* from, std::size_t from_stride,
                     std::size_t rows, std::size_t columns) {
  constexpr std::size_t side = 32;
  for (std::size_t i0 = 0; i0 < rows; i0 += side)
    for (std::size_t j0 = 0; j0 < columns; j0 += side)
      for (std::size_t i = i0; i < std::min(i0 + side, rows); ++i)
        for (std::size_t j = j0; j < std::min(j0 + side, columns); ++j)
          into[j * into_stride + i] = from[i * from_stride + j];
}

}  // namespace outsize::detail
