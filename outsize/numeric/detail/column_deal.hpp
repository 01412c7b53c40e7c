// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Deals the records of a column to s piles, one after another like cards, and lays the piles behind
// each other: the transposition of a matrix with rows of s records whose first and last row may be
// incomplete.
//
//     phase 2, s = 5, 9 records        row 0    . . 0 1 2        piles   5 | 6 | 0 7 | 1 8 | 2 ...
//                                      row 1    3 4 5 6 7        in order: pile 0 first
//
// Done pile by pile, every record would cost a cache line; so it goes by tiles of as many rows as
// pages are kept at hand and as many piles as records of a cache line. Rows are independent:
// several threads may deal ranges of them at once. Immutable after construction. Layer: numeric.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <outsize/base/assert.hpp>

namespace outsize::numeric {

/// A half-open range of rows.
struct row_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// The permutation: record i goes to pile (phase + i) mod s, behind those that went there before.
class column_deal {
 public:
  /// @param phase  The pile of record 0, less than pile_count.
  /// Memory:  pile_count words.
  column_deal(std::uint64_t record_count, std::uint64_t pile_count, std::uint64_t phase);

  std::uint64_t record_count() const noexcept { return record_count_; }
  std::uint64_t row_count() const noexcept;
  row_range all_rows() const noexcept { return {0, row_count()}; }

  /// Copies the records of these rows from `source` to their places in `target`; both have
  /// record_count() records and do not overlap.
  template <class Record>
  void apply(std::span<Record const> source, std::span<Record> target,
             row_range rows) const noexcept;

 private:
  template <class Record>
  void deal_row(Record const* source, Record* target, std::uint64_t row) const noexcept;
  template <class Record>
  void deal_tile(Record const* source, Record* target, row_range rows,
                 std::uint64_t first_pile) const noexcept;

  std::uint64_t record_count_;
  std::uint64_t pile_count_;
  std::uint64_t phase_;
  // The record of row ρ in pile c goes to pile_base_[c] + ρ. A pile without a record in row 0
  // begins at base + 1; the base of the first such pile is -1 modulo 2^64.
  std::vector<std::uint64_t> pile_base_;
};

// ------------------------------------------------------------------------------- inner loops

template <class Record>
void column_deal::apply(std::span<Record const> source, std::span<Record> target,
                        row_range rows) const noexcept {
  static_assert(std::is_trivially_copyable_v<Record>);
  OUTSIZE_ASSERT(source.size() == record_count_ && target.size() == record_count_);
  OUTSIZE_ASSERT(rows.end <= row_count());
  if (rows.begin >= rows.end) return;
  if (rows.begin == 0) deal_row(source.data(), target.data(), rows.begin++);
  bool const has_last = rows.begin < rows.end && rows.end == row_count();
  if (has_last) deal_row(source.data(), target.data(), --rows.end);

  constexpr std::uint64_t tile_rows = 64;
  constexpr std::uint64_t tile_piles = std::max<std::uint64_t>(64 / sizeof(Record), 1);
  for (std::uint64_t row = rows.begin; row < rows.end; row += tile_rows)
    for (std::uint64_t pile = 0; pile < pile_count_; pile += tile_piles)
      deal_tile(source.data(), target.data(), {row, std::min(row + tile_rows, rows.end)}, pile);
}

/// The first or the last row, which may be incomplete.
template <class Record>
void column_deal::deal_row(Record const* source, Record* target, std::uint64_t row) const noexcept {
  std::uint64_t const begin = std::max(row * pile_count_, phase_);
  std::uint64_t const end = std::min((row + 1) * pile_count_, phase_ + record_count_);
  for (std::uint64_t cell = begin; cell < end; ++cell)
    target[pile_base_[cell - row * pile_count_] + row] = source[cell - phase_];
}

template <class Record>
void column_deal::deal_tile(Record const* source, Record* target, row_range rows,
                            std::uint64_t first_pile) const noexcept {
  constexpr std::uint64_t tile_piles = std::max<std::uint64_t>(64 / sizeof(Record), 1);
  std::uint64_t const* base = pile_base_.data() + first_pile;
  Record const* from = source + (rows.begin * pile_count_ + first_pile - phase_);
  std::uint64_t const piles = std::min(tile_piles, pile_count_ - first_pile);
  for (std::uint64_t row = rows.begin; row < rows.end; ++row, from += pile_count_) {
    if (piles == tile_piles)
      for (std::uint64_t k = 0; k < tile_piles; ++k) target[base[k] + row] = from[k];
    else
      for (std::uint64_t k = 0; k < piles; ++k) target[base[k] + row] = from[k];
  }
}

}  // namespace outsize::numeric
