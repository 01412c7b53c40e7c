// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How an out-of-core FFT divides its memory: loads, and the chunks in which they travel.
//
// A load is what must be in memory together for a pass's transforms. It is read and written in
// chunks, the buffers of the pipeline, and is complete when all its chunks have come. As buffers
// are so much smaller than a load, a load takes half of the memory and not a third or a quarter:
// while one is transformed, most of the next one is read into the rest. Large loads are long
// requests.
//
// With two passes the file between them is tiled, so that its requests are whole chunks:
//
//              pass 2's loads (w' rows of N_2)          tile (a, b): the w' rows × w columns that
//              b = 0    1     2                         load a of the first pass and load b of the
//     load 0   ████   ░░░░  ░░░░  ← pass 1's loads      second have in common, row by row: a chunk
//     load 1   ░░░░   ░░░░  ░░░░    (w columns of N_1)  of both
//
// Only the input is read in pieces of w numbers, and only the output is written in runs of w'. More
// passes have the file of fft_plan.hpp between them, in its plain order. Pure and immutable after
// construction. Layer: numeric.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <outsize/numeric/detail/fft_plan.hpp>

namespace outsize::numeric {

/// One pass and its chunks, numbered through all loads.
class fft_chunked_pass {
 public:
  /// @param tiled  Whether the other end of the pass is the tiled file: then a chunk is a tile.
  fft_chunked_pass(fft_pass pass, unsigned chunk_bits, bool tiled);

  fft_pass const& pass() const noexcept { return pass_; }
  std::uint64_t chunk_records() const noexcept { return std::uint64_t{1} << chunk_bits_; }
  std::uint64_t chunks_per_load() const noexcept {
    return pass_.records_per_load() / chunk_records();
  }
  std::uint64_t chunk_count() const noexcept { return pass_.load_count() * chunks_per_load(); }

  /// What is read into a chunk's buffer and what is written from it. In the last pass a chunk of
  /// w' rows of s numbers is read row by row, and written column by column.
  std::vector<fft_transfer> reads(std::uint64_t chunk) const;
  std::vector<fft_transfer> writes(std::uint64_t chunk) const;
  /// lg w' and lg s of the last pass's chunks.
  unsigned chunk_row_bits() const noexcept;
  unsigned chunk_column_bits() const noexcept { return chunk_bits_ - chunk_row_bits(); }

  /// The shortest transfers.
  std::uint64_t read_records() const;
  std::uint64_t write_records() const;

 private:
  fft_transfer tile(std::uint64_t chunk) const noexcept;

  fft_pass pass_;
  unsigned chunk_bits_;
  bool tiled_;
};

struct fft_limits {
  unsigned record_bits = 0;
  std::uint64_t memory_bytes = 0;
  std::size_t block_bytes = 0;  ///< 0: chosen.
  std::size_t threads = 1;
};

/// The division of the memory.
struct fft_loads {
  std::vector<fft_chunked_pass> passes;
  std::size_t workers = 1;      ///< That share a load, with scratch memory each.
  std::size_t transposers = 1;  ///< Chunks of the last pass that are transposed at once.

  /// Bytes of tables and scratch memory; with the buffers of the transposers; and the least that
  /// the pool of buffers must have besides.
  std::uint64_t kernel_bytes(std::size_t pass) const;
  std::uint64_t side_bytes(std::size_t pass) const;
  std::uint64_t least_pool_bytes(std::size_t pass) const;
  /// Buffers that the pool of a pass gets out of `memory_bytes`.
  std::size_t pool_count(std::size_t pass, std::uint64_t memory_bytes) const;
};

/// Chooses the division: as few passes as requests of about 8 KiB (or options.block_bytes) allow,
/// then requests as long as the memory allows.
/// Errors:  budget_error if not even loads of a few pages fit; std::invalid_argument if block_bytes
///          is no power of two of at least one number.
fft_loads choose_fft_loads(fft_limits const& limits);

}  // namespace outsize::numeric
