// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A linear permutation of records in memory, target[K x ⊕ c] = source[x], in about twice the time
// of copying them.
//
// Taken record by record, a bit reversal touches a new cache line and a new page with each write.
// So the records are taken in tiles: a tile is a coset of a subspace W that contains the low
// address bits of the source and those of the target, so that it consists of whole rows of 2^a
// consecutive records on both sides, a row being some cache lines. Every tile has the same inner
// permutation up to an exclusive or with a constant, hence one small table serves all:
//
//     source rows --- scattered through the table --> tile buffer (L1) --- rows copied --> target
//
// Rows are prefetched a few ahead, across the end of a tile. Tiles are disjoint on both sides:
// several threads may move ranges of them at once. Immutable after construction. Layer: numeric.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/numeric/bit_matrix.hpp>

namespace outsize::numeric {

/// A half-open range of tiles.
struct tile_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// The tiles of target[K x ⊕ c] = source[x] for records of one size, K fixed and c free.
class tiled_permutation {
 public:
  /// @param matrix        K, nonsingular, m x m; source and target have 2^m records.
  /// @param record_bytes  The size of a record; decides how many of them make up a row.
  /// CPU:     O(m³ + records of a tile).
  /// Memory:  tables of at most 32 KiB.
  /// Errors:  std::invalid_argument if the matrix is singular.
  tiled_permutation(bit_matrix const& matrix, std::size_t record_bytes);

  std::uint64_t record_count() const noexcept { return std::uint64_t{1} << size_; }
  std::uint64_t tile_count() const noexcept { return std::uint64_t{1} << tile_columns_.size(); }
  tile_range all_tiles() const noexcept { return {0, tile_count()}; }
  std::size_t record_bytes() const noexcept { return record_bytes_; }

  /// target[K x ⊕ complement] = source[x] for the x of these tiles; the other records of `target`
  /// stay as they are. Source and target are distinct and have record_count() records of
  /// record_bytes().
  /// CPU:     About two copies within L1 and one pass over source and target.
  template <class Record>
  void apply(std::uint64_t complement, std::span<Record const> source, std::span<Record> target,
             tile_range tiles) const noexcept;

 private:
  // Four cache lines: enough for the hardware to stream within a row, few enough that a tile of
  // 2^(2a) records stays within L1 beside its table.
  static constexpr std::size_t row_target_bytes = 256;
  static constexpr unsigned max_row_bits = 6;
  // The rows of a tile often lie a power of two apart and so share the sets of the caches: what is
  // prefetched further ahead than the ways of a set would be lost again before it is used.
  static constexpr std::size_t rows_ahead = 4;

  static constexpr unsigned row_bits_for(std::size_t record_bytes) noexcept {
    unsigned bits = 0;
    while (bits < max_row_bits && record_bytes << (bits + 1) <= row_target_bytes) ++bits;
    return bits;
  }

  // Where a tile begins on both sides, and the constant of its inner permutation.
  struct tile {
    std::uint64_t source = 0;
    std::uint64_t target = 0;
    std::uint32_t inner = 0;
  };
  // What one bit of a tile's number contributes.
  using tile_column = tile;

  void choose_tile_space(bit_matrix const& inverse);
  void fill_tables(bit_matrix const& matrix);
  tile find_tile(std::uint64_t index, tile at) const noexcept;
  tile split_target(std::uint64_t source, std::uint64_t target) const noexcept;
  template <std::size_t RowRecords, class Record>
  void apply_rows(std::uint64_t complement, Record const* source, Record* target,
                  tile_range tiles) const noexcept;
  template <std::size_t RowRecords, class Record>
  void gather_rows(tile const& at, tile const& next, Record const* source,
                   Record* buffer) const noexcept;
  template <std::size_t RowRecords, class Record>
  void write_rows(tile const& at, Record const* buffer, Record* target) const noexcept;

  unsigned size_;
  std::size_t record_bytes_;
  unsigned row_bits_;
  std::vector<std::uint64_t> source_basis_;  // of W, reduced, ascending
  std::vector<std::uint64_t> target_basis_;  // of K W, likewise
  std::uint64_t target_pivots_ = 0;
  std::vector<std::uint64_t> source_rows_;  // offsets of the rows of a tile from its begin
  std::vector<std::uint64_t> target_rows_;
  std::vector<std::uint16_t> inner_;  // place in the tile buffer of each record of a tile
  std::vector<tile_column> tile_columns_;
};

// ------------------------------------------------------------------------------- inner loops

template <class Record>
void tiled_permutation::apply(std::uint64_t complement, std::span<Record const> source,
                              std::span<Record> target, tile_range tiles) const noexcept {
  static_assert(std::is_trivially_copyable_v<Record>);
  constexpr std::size_t given_bytes = sizeof(Record);
  OUTSIZE_ASSERT(given_bytes == record_bytes_ && tiles.end <= tile_count());
  OUTSIZE_ASSERT(source.size() == record_count() && target.size() == record_count());
  // With the length of a row known to the compiler its loops have no remainders.
  constexpr unsigned full_row = row_bits_for(sizeof(Record));
  if (row_bits_ == full_row)
    apply_rows<std::size_t{1} << full_row>(complement, source.data(), target.data(), tiles);
  else
    apply_rows<0>(complement, source.data(), target.data(), tiles);
}

template <std::size_t RowRecords, class Record>
void tiled_permutation::apply_rows(std::uint64_t complement, Record const* source, Record* target,
                                   tile_range tiles) const noexcept {
  if (tiles.begin >= tiles.end) return;
  constexpr std::size_t tile_records = std::size_t{1} << (2 * row_bits_for(sizeof(Record)));
  alignas(64) std::array<std::byte, tile_records * sizeof(Record)> storage;
  auto* buffer = reinterpret_cast<Record*>(storage.data());
  tile const origin = split_target(0, complement);
  tile at = find_tile(tiles.begin, origin);
  for (std::uint64_t index = tiles.begin; index < tiles.end; ++index) {
    tile const next = index + 1 < tiles.end ? find_tile(index + 1, origin) : at;
    gather_rows<RowRecords>(at, next, source, buffer);
    write_rows<RowRecords>(at, buffer, target);
    at = next;
  }
}

template <std::size_t RowRecords, class Record>
void tiled_permutation::gather_rows(tile const& at, tile const& next, Record const* source,
                                    Record* buffer) const noexcept {
  std::size_t const row_records = RowRecords != 0 ? RowRecords : std::size_t{1} << row_bits_;
  std::size_t const row_count = source_rows_.size();
  std::uint16_t const* inner = inner_.data();
  for (std::size_t k = 0; k < row_count; ++k, inner += row_records) {
    std::uint64_t const ahead = k + rows_ahead < row_count
                                    ? at.source ^ source_rows_[k + rows_ahead]
                                    : next.source ^ source_rows_[(k + rows_ahead) % row_count];
    auto const* line = reinterpret_cast<std::byte const*>(source + ahead);
    for (std::size_t i = 0; i < row_records * sizeof(Record); i += 64) __builtin_prefetch(line + i);
    Record const* from = source + (at.source ^ source_rows_[k]);
    for (std::size_t i = 0; i < row_records; ++i) buffer[inner[i] ^ at.inner] = from[i];
  }
}

template <std::size_t RowRecords, class Record>
void tiled_permutation::write_rows(tile const& at, Record const* buffer,
                                   Record* target) const noexcept {
  std::size_t const row_records = RowRecords != 0 ? RowRecords : std::size_t{1} << row_bits_;
  std::size_t const row_count = target_rows_.size();
  for (std::size_t k = 0; k < row_count; ++k, buffer += row_records) {
    if (k + rows_ahead < row_count) {
      auto* line =
          reinterpret_cast<std::byte*>(target + (at.target ^ target_rows_[k + rows_ahead]));
      for (std::size_t i = 0; i < row_records * sizeof(Record); i += 64)
        __builtin_prefetch(line + i, 1);
    }
    std::memcpy(static_cast<void*>(target + (at.target ^ target_rows_[k])), buffer,
                row_records * sizeof(Record));
  }
}

}  // namespace outsize::numeric
