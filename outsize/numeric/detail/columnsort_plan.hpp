// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What goes where when Leighton's columnsort sorts N records on disk in three passes, whatever the
// keys: r x s matrix, column by column in the file, a column of r records fits in memory.
//
// The eight steps are: sort the columns; "transpose" (read column by column, write row by row, the
// shape stays r x s); sort; undo the transposition; sort; shift by half a column; sort; unshift.
//
//     pass 1  steps 1, 2   sort column j; deal its records to the s columns of the dealt file,
//                          every s-th to the same one: moved in memory, then s pieces
//     pass 2  steps 3, 4   sort dealt column c; cut it into s pieces, one to each column
//     pass 3  steps 5 … 8  sort column j; merge the second half of column j-1 with the first half
//                          of column j: that is final; keep the second half for column j+1
//
// Within a target column the order of the pieces is free, as the column is sorted next. So pass 2
// needs no permutation in memory, and the pieces of either pass, about r/s records each, lie in the
// order of the columns they come from: piece (j, c), the records whose column-major index i lies in
// column j and has i mod s = c, is written by pass 1 and cut out by pass 2 again.
//
// N need not be a multiple of r, nor r of s. The last column may be short: the records it lacks
// count as +∞. They are last in every column at all times, so that no pass reads or writes them. If
// r is a multiple of s · B, every piece begins at a multiple of B records in both the dealt file
// and, but for the short column, the target of pass 2. aligned() finds such an r for nearly all N
// and memories, if the last columns may be padded.
//
// Pure and immutable after construction. Layer: numeric. Source: Leighton: Tight bounds on the
// complexity of parallel sorting, IEEE Trans. Computers C-34(4), 1985; Chaudhry, Cormen: Stupid
// columnsort tricks, Dartmouth TR2003-444, for s not dividing r; Chaudhry, Cormen, Wisniewski:
// Columnsort lives! SPAA 2001, for the three passes.

#include <cstdint>
#include <optional>
#include <vector>

#include <outsize/numeric/detail/column_deal.hpp>

namespace outsize::numeric {

/// Consecutive records of a sorted (in pass 1: sorted and dealt) column that are written together.
struct columnsort_piece {
  std::uint64_t target_column = 0;
  std::uint64_t buffer_offset = 0;  ///< In the column in memory, in records.
  std::uint64_t file_offset = 0;    ///< In the target file, in records.
  std::uint64_t length = 0;         ///< At least 1.
  friend bool operator==(columnsort_piece const&, columnsort_piece const&) = default;
};

/// Consecutive records of a file.
struct columnsort_extent {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  friend bool operator==(columnsort_extent const&, columnsort_extent const&) = default;
};

/// What pass 3 does with column j once it is sorted.
struct columnsort_halves {
  std::uint64_t carried = 0;  ///< Records of column j-1 that were kept: its second half.
  std::uint64_t head = 0;     ///< Records of column j to merge with those.
  std::uint64_t tail = 0;     ///< The other records of column j, kept for column j+1; those of the
                              ///< last column are final and follow the merged ones.
  std::uint64_t output_offset = 0;  ///< Where the carried + head merged records go.
  friend bool operator==(columnsort_halves const&, columnsort_halves const&) = default;
};

/// A three-pass columnsort of N records with columns of r records.
///
/// I/Os:    6 N / B blocks: three passes, each of which reads and writes every record once. The
///          pattern depends on N and r alone.
/// CPU:     N lg r comparisons in pass 1; passes 2 and 3 sort columns made of sorted pieces.
/// Memory:  pass 1: a column and its dealt copy; pass 2: a column; pass 3: a column, half a column,
///          and what is being written.
/// Disk:    the dealt file of s columns of r records, of which only N are written, and N more.
/// Errors:  std::invalid_argument, naming r, s and the least r, if r < 2 (s - 1)²; then the outcome
///          might not be sorted.
/// Checked: columnsort_plan_test.cpp, sorts_all_zero_one_inputs
class columnsort_plan {
 public:
  columnsort_plan(std::uint64_t record_count, std::uint64_t column_records);

  /// The least r with which N records can be sorted: about (2 N²)^(1/3).
  static std::uint64_t least_column_records(std::uint64_t record_count) noexcept;
  /// The plan of `record_count` records and padding that fills s columns of r <= `most` records, in
  /// which all pieces and halves of columns begin and end at multiples of `block_records`. Of all
  /// such plans the one with the least padding; nothing if `most` is less than what
  /// least_aligned_column_records() says. @pre most > 0, block_records > 0.
  static std::optional<columnsort_plan> aligned(std::uint64_t record_count, std::uint64_t most,
                                                std::uint64_t block_records);
  /// The least r of such a plan: mostly hardly more than least_column_records(), but at least a
  /// block for each column.
  static std::uint64_t least_aligned_column_records(std::uint64_t record_count,
                                                    std::uint64_t block_records) noexcept;

  std::uint64_t record_count() const noexcept { return record_count_; }
  /// r and s = ⌈N / r⌉. With s <= 1 sorting the column in memory is all there is to do.
  std::uint64_t column_records() const noexcept { return column_records_; }
  std::uint64_t column_count() const noexcept { return column_count_; }

  /// Where column j lies in the source and in the files after pass 2 and pass 3.
  columnsort_extent column(std::uint64_t j) const noexcept;
  /// Where column c lies in the dealt file, which pass 1 writes and pass 2 reads.
  columnsort_extent dealt_column(std::uint64_t c) const noexcept;

  /// The permutation of sorted column j that puts the pieces of pass 1 together.
  column_deal deal(std::uint64_t j) const;
  /// Pass 1: the pieces of column j, sorted and dealt; offsets in the dealt file, ascending.
  std::vector<columnsort_piece> dealt_pieces(std::uint64_t j) const;
  /// Pass 2: the pieces of dealt column c, sorted; offsets in a file of N records, ascending.
  std::vector<columnsort_piece> returned_pieces(std::uint64_t c) const;
  /// Pass 3.
  columnsort_halves halves(std::uint64_t j) const noexcept;

 private:
  std::uint64_t record_count_;
  std::uint64_t column_records_;
  std::uint64_t column_count_;
};

}  // namespace outsize::numeric
