// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/container/detail/blocks/matrix_kernel.hpp>

#include <cblas.h>
#include <mutex>

namespace outsize::detail {
namespace {

CBLAS_TRANSPOSE how_to_read(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

/// gemm with the sizes of the product; `call` gets the rest.
template <typename Call>
void call_blas(block_product const& how, Call const& call) {
  auto const size = [](std::size_t items) { return static_cast<blasint>(items); };
  call(how_to_read(how.a_transposed), how_to_read(how.b_transposed), size(how.rows),
       size(how.columns), size(how.inner), size(how.a_stride), size(how.b_stride),
       size(how.c_stride));
}

// How many want one thread, and how many threads there were before the first of them. It is the
// library's own state that is global here: OpenBLAS has one number of threads for the process.
struct blas_threads {
  std::mutex mutex;
  int users = 0;
  int before = 1;
};

blas_threads& blas() {
  static blas_threads instance;
  return instance;
}

}  // namespace

one_blas_thread::one_blas_thread() {
  std::lock_guard const lock(blas().mutex);
  if (blas().users++ > 0) return;
  blas().before = openblas_get_num_threads();
  openblas_set_num_threads(1);
}

one_blas_thread::~one_blas_thread() {
  std::lock_guard const lock(blas().mutex);
  if (--blas().users == 0) openblas_set_num_threads(blas().before);
}

void add_product(float* c, float const* a, float const* b, block_product const& how) noexcept {
  call_blas(how, [&](auto a_form, auto b_form, auto rows, auto columns, auto inner, auto a_stride,
                     auto b_stride, auto c_stride) {
    cblas_sgemm(CblasRowMajor, a_form, b_form, rows, columns, inner, 1, a, a_stride, b, b_stride, 1,
                c, c_stride);
  });
}

void add_product(double* c, double const* a, double const* b, block_product const& how) noexcept {
  call_blas(how, [&](auto a_form, auto b_form, auto rows, auto columns, auto inner, auto a_stride,
                     auto b_stride, auto c_stride) {
    cblas_dgemm(CblasRowMajor, a_form, b_form, rows, columns, inner, 1, a, a_stride, b, b_stride, 1,
                c, c_stride);
  });
}

void add_product(std::complex<float>* c, std::complex<float> const* a, std::complex<float> const* b,
                 block_product const& how) noexcept {
  std::complex<float> const one = 1;
  call_blas(how, [&](auto a_form, auto b_form, auto rows, auto columns, auto inner, auto a_stride,
                     auto b_stride, auto c_stride) {
    cblas_cgemm(CblasRowMajor, a_form, b_form, rows, columns, inner, &one, a, a_stride, b, b_stride,
                &one, c, c_stride);
  });
}

void add_product(std::complex<double>* c, std::complex<double> const* a,
                 std::complex<double> const* b, block_product const& how) noexcept {
  std::complex<double> const one = 1;
  call_blas(how, [&](auto a_form, auto b_form, auto rows, auto columns, auto inner, auto a_stride,
                     auto b_stride, auto c_stride) {
    cblas_zgemm(CblasRowMajor, a_form, b_form, rows, columns, inner, &one, a, a_stride, b, b_stride,
                &one, c, c_stride);
  });
}

}  // namespace outsize::detail
