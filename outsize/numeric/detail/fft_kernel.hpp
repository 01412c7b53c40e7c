// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The transforms of one load of an out-of-core FFT, by FFTW and all threads of an executor.
//
// A load lies in chunks, buffers of equal size that need not be neighbours:
//
//     column_kernel (all passes but the last)       row_kernel (the last pass)
//     chunk 0   rows 0 … R-1, each w numbers        chunk 0   columns 0 … s-1 of all w' rows
//     chunk 1   rows R … 2R-1                       chunk 1   columns s … 2s-1
//
// FFTW is fast on contiguous numbers, and a column's numbers lie a power of two apart, where caches
// hold few of them. So a few neighbouring columns (whole cache lines) are gathered into contiguous
// scratch memory of a thread's own, transformed and multiplied by their twiddles while they are in
// its cache, and put back; rows likewise. Results do not depend on the number of threads: FFTW's
// plans are estimated, not timed, which would choose another order of additions each time.
//
// Thread rule: a kernel works on one load at a time. Layer: numeric.

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <outsize/base/executor.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/numeric/detail/fft_plan.hpp>
#include <outsize/numeric/detail/fft_twiddles.hpp>

namespace outsize::numeric {

/// The numbers of the chunks of a load, in order.
using fft_chunks = std::span<std::complex<double>* const>;

/// Transforms 2^n contiguous numbers in place, by FFTW. Any number of threads may call one.
class fft_line {
 public:
  /// @param length  A power of two.
  fft_line(std::uint64_t length, fft_direction direction);
  ~fft_line();
  fft_line(fft_line const&) = delete;
  fft_line& operator=(fft_line const&) = delete;

  std::uint64_t length() const noexcept { return length_; }
  /// @pre The address is a multiple of 64.
  void operator()(std::complex<double>* numbers) const noexcept;

 private:
  std::uint64_t length_;
  void* plan_;
};

/// Columns that a thread transforms together, `row_records` being all there are.
std::uint64_t panel_columns(std::uint64_t length, std::uint64_t row_records) noexcept;
/// What a thread needs for panels of so many columns (rows: of one).
std::uint64_t panel_bytes(std::uint64_t length, std::uint64_t columns) noexcept;

/// The columns of a load of an in-place pass, twiddles included.
class column_kernel {
 public:
  /// @param workers  Threads that share a load; each has scratch memory out of `memory`.
  column_kernel(fft_pass const& pass, fft_direction direction, std::size_t workers, grant& memory);

  /// Transforms load number `load`, `chunks` holding equal numbers of its rows.
  void operator()(std::uint64_t load, fft_chunks chunks, fft_twiddles const& twiddles,
                  executor& threads) const;

 private:
  fft_pass const& pass_;
  fft_line line_;
  std::vector<buffer> scratch_;
};

/// The rows of a load of the last pass. They are left where they were: transposing is another step.
class row_kernel {
 public:
  row_kernel(fft_pass const& pass, fft_direction direction, std::size_t workers, grant& memory);

  /// `chunks` holding equal numbers of its columns.
  void operator()(fft_chunks chunks, executor& threads) const;

 private:
  fft_pass const& pass_;
  fft_line line_;
  std::vector<buffer> scratch_;
};

}  // namespace outsize::numeric
