// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The passes of a Fourier transform of N = 2^n complex numbers on disk, with a memory of M = 2^m
// and requests of at least B = 2^b numbers, its result in natural order without a pass of
// permutation.
//
// N = N_1 N_2 … N_k. The file is an array of these dimensions, row by row, N_1 slowest. Pass i < k
// transforms dimension i in place, then multiplies the number of index k_i and low index ℓ (what
// dimensions i+1 … k say) by W^(ℓ k_i), W the root of unity of order N_i ⋯ N_k. After the last pass
// the number at (k_1, …, k_k) is X of index k_1 + N_1 (k_2 + N_2 (k_3 + …)): the digits reversed.
//
//     pass i < k: a load is w = M/N_i neighbours from each of N_i rows          file -> same file
//         buffer [N_i][w]: w transforms of length N_i, stride w, distance 1; twiddles by rows
//     pass k:     a load is w' = M/N_k whole rows, those of w' consecutive values of k_1 + N_1 (…)
//         buffer [w'][N_k]: w' transforms of length N_k, stride 1;              file -> other file
//         transposed to [N_k][w'], the rows of which are runs of the result
//
// Why this layout: requests fill and empty the buffers directly, and a load is moved within memory
// only where the natural order demands it, once, in the last pass. The transforms of the other
// passes are strided but interleaved: w neighbouring numbers are the same element of w transforms,
// which is what vector registers want; a kernel takes them in panels of some cache lines' width.
// The alternative, transposing before and after each of these passes for contiguous transforms,
// moves every load twice more. The last dimension has contiguous transforms for nothing.
//
// Rows of the last pass are gathered in the order of the result's digits, so that its output runs
// are w' long; with k = 2 these rows are neighbours in the file, and the load is one request.
//
// Pure and immutable after construction. Layer: numeric. Source: Cormen, Nicol: Performing out-of-
// core FFTs on parallel disk systems, Parallel Computing 24(1), 1998, which permutes in passes of
// its own; here the permutations are part of the passes that transform.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace outsize::numeric {

/// What a plan may use, as binary logarithms of numbers of records (complex numbers).
struct fft_memory {
  unsigned memory_bits = 0;  ///< m: the records of one load.
  unsigned block_bits = 0;   ///< b: the least number of consecutive records of a request.
};

/// Consecutive records that go between a file and a buffer; all counts in records.
struct fft_transfer {
  std::uint64_t file_offset = 0;
  std::uint64_t buffer_offset = 0;
  std::uint64_t length = 0;
  friend bool operator==(fft_transfer const&, fft_transfer const&) = default;
};

/// The transforms of a load, for all groups g < group_count and all t < count: transform t of group
/// g reads its element e at g · group_distance + t · distance + e · stride, and its result goes to
/// the same place in the source buffer, or, in the last pass, to
/// t · output_distance + e · output_stride in a target buffer.
///
/// With FFTW: fftw_plan_many_dft(1, &length, count, …, stride, distance, …, output_stride,
/// output_distance, …), once for each group. A range of t is the same with a smaller count and
/// shifted pointers: so threads share a load.
struct fft_shape {
  std::uint64_t length = 1;
  std::uint64_t count = 1;
  std::uint64_t stride = 1;
  std::uint64_t distance = 1;
  std::uint64_t output_stride = 1;
  std::uint64_t output_distance = 1;
  std::uint64_t group_count = 1;     ///< More than 1 only if N_i ⋯ N_k < M.
  std::uint64_t group_distance = 0;  ///< length · count.
  friend bool operator==(fft_shape const&, fft_shape const&) = default;
};

/// One pass over the numbers: every load is gathered, transformed, multiplied and scattered.
class fft_pass {
 public:
  /// @param digit_bits  lg N_1 … lg N_k.
  /// @param index       Which of them this pass transforms, from 0.
  fft_pass(std::span<unsigned const> digit_bits, std::size_t index, unsigned memory_bits);

  bool is_last() const noexcept { return index_ + 1 == digit_bits_.size(); }
  /// Whether a load goes back to where it came from; all passes but the last, which has to write
  /// another file.
  bool is_in_place() const noexcept { return !is_last(); }
  std::uint64_t load_count() const noexcept;
  std::uint64_t records_per_load() const noexcept { return std::uint64_t{1} << load_bits_; }
  fft_shape const& shape() const noexcept { return shape_; }

  /// What is read for a load, into the source buffer, and written, from the source buffer in an
  /// in-place pass and from the target buffer in the last. Ascending buffer offsets; neighbours in
  /// both file and buffer are joined.
  std::vector<fft_transfer> gathers(std::uint64_t load) const;
  std::vector<fft_transfer> scatters(std::uint64_t load) const;

  /// Rows of the source buffer: row r holds row_records() numbers of index k_i = r mod N_i and the
  /// low indices from first_low_index(load) on. In-place passes only.
  std::uint64_t row_count() const noexcept { return shape_.length * shape_.group_count; }
  std::uint64_t row_records() const noexcept { return shape_.count; }
  std::uint64_t first_low_index(std::uint64_t load) const noexcept;
  /// The number at position j of row r is to be multiplied by
  /// W_N^((first_low_index(load) + j) · twiddle_step(r)), W_N of order N.
  std::uint64_t twiddle_step(std::uint64_t row) const noexcept;

 private:
  std::vector<fft_transfer> row_transfers(std::uint64_t load) const;
  std::uint64_t row_of_result(std::uint64_t low_digits) const noexcept;

  std::vector<unsigned> digit_bits_;
  std::size_t index_;
  unsigned record_bits_ = 0;  // n
  unsigned high_bits_ = 0;    // lg of the product of the dimensions before this one
  unsigned low_bits_ = 0;     // and after it
  unsigned load_bits_ = 0;
  fft_shape shape_;
};

/// The passes of an out-of-core Fourier transform, either direction.
///
/// I/Os:    2 (N/B) · passes().size() blocks, passes().size() = ⌈n / (m - b)⌉, or 1 if N <= M, with
///          every request at least B records long.
/// CPU:     O(N lg N), and about 2 complex products per number and pass for the twiddles.
/// Errors:  std::invalid_argument if a load has less than two records and N > 1.
/// Checked: fft_plan_test.cpp, touches_every_record_once_in_each_pass
class fft_plan {
 public:
  /// @param record_bits  n, at most 62.
  /// A block of more than √M records counts as √M: no split would have rows as long as that.
  fft_plan(unsigned record_bits, fft_memory memory);

  std::span<fft_pass const> passes() const noexcept { return passes_; }
  /// lg N_1 … lg N_k.
  std::span<unsigned const> digit_bits() const noexcept { return digit_bits_; }
  unsigned record_bits() const noexcept { return record_bits_; }
  /// m and b as used.
  unsigned memory_bits() const noexcept { return memory_.memory_bits; }
  unsigned block_bits() const noexcept { return memory_.block_bits; }

 private:
  unsigned record_bits_;
  fft_memory memory_;
  std::vector<unsigned> digit_bits_;
  std::vector<fft_pass> passes_;
};

}  // namespace outsize::numeric
