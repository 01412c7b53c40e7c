// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Where the items of a matrix are: in square blocks, each in a page, and the loops over blocks,
// whatever the items are.
//
//   0 0 0 1 1 1 2 2      a page holds block_rows · block_columns items, row by row; pages are
//   0 0 0 1 1 1 2 2      numbered row by row of blocks; those at the right and at the bottom may be
//   3 3 3 4 4 4 5 5      only partly used. Matrices lower or narrower than a block have blocks that
//                        are no larger.
//
// The loops begin to read what the next step needs before they compute, and leave it to the cache
// to write what was changed when it must leave. They take all pages of the cache that are free:
// references into any container of the pool end. Threads: as page_row's. Layer: container.
// Source: Hong, Kung: I/O complexity: the red-blue pebble game, STOC 1981 (what a product needs at
// least).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include <outsize/base/executor.hpp>
#include <outsize/container/detail/blocks/matrix_kernel.hpp>
#include <outsize/page/detail/page_row.hpp>
#include <outsize/page/page_pool.hpp>

namespace outsize {

/// A pool for matrices: of blocks, of which 128 fit in `memory_bytes`, but no longer than 8 MiB.
/// 0: up to seven eighths of what others can do without; operations on whole matrices take all of
/// its share, which others can have back afterwards, but for 12 blocks while matrices have any.
/// @throws budget_error, io_error.
page_pool matrix_pool(storage& store, std::uint64_t memory_bytes = 0);

}  // namespace outsize

namespace outsize::detail {

/// Which items a block holds.
struct block_extent {
  std::uint64_t first_row = 0, first_column = 0;
  std::size_t rows = 0, columns = 0;
  std::size_t stride = 0;  ///< From one row to the next, in items.
};

/// The pages of one matrix, all zero at first.
class matrix_pages {
 public:
  /// @throws std::invalid_argument if an item is longer than a page of the pool, or there are more
  /// than 2^63 bytes; out_of_space, budget_error, io_error.
  matrix_pages(page_pool const& pool, std::uint64_t rows, std::uint64_t columns,
               std::size_t item_bytes);
  matrix_pages(matrix_pages const&) = delete;
  matrix_pages& operator=(matrix_pages const&) = delete;
  ~matrix_pages() { row_->reach(0, 0); }

  page_pool const& pool() const noexcept { return pool_; }
  page_row& row() noexcept { return *row_; }
  page_row const& row() const noexcept { return *row_; }
  std::uint64_t rows() const noexcept { return rows_; }
  std::uint64_t columns() const noexcept { return columns_; }
  std::size_t item_bytes() const noexcept { return item_bytes_; }
  std::size_t block_rows() const noexcept { return block_rows_; }
  std::size_t block_columns() const noexcept { return block_columns_; }
  /// Rows and columns of blocks.
  std::uint64_t blocks_down() const noexcept { return down_; }
  std::uint64_t blocks_across() const noexcept { return across_; }
  /// The page of a block.
  std::uint64_t page(std::uint64_t down, std::uint64_t across) const noexcept {
    return down * across_ + across;
  }
  block_extent extent(std::uint64_t page) const noexcept {
    std::uint64_t const i = page / across_ * block_rows_, j = page % across_ * block_columns_;
    return {
        .first_row = i,
        .first_column = j,
        .rows = static_cast<std::size_t>(std::min<std::uint64_t>(block_rows_, rows_ - i)),
        .columns = static_cast<std::size_t>(std::min<std::uint64_t>(block_columns_, columns_ - j)),
        .stride = block_columns_};
  }

 private:
  page_pool pool_;
  std::uint64_t rows_;
  std::uint64_t columns_;
  std::size_t item_bytes_;
  std::size_t block_rows_;
  std::size_t block_columns_;
  std::uint64_t down_;
  std::uint64_t across_;
  std::shared_ptr<page_row> row_;
};

/// A matrix as an operand, read as it lies or across.
struct matrix_operand {
  matrix_pages const* pages = nullptr;
  bool transposed = false;

  std::uint64_t rows() const noexcept { return transposed ? pages->columns() : pages->rows(); }
  std::uint64_t columns() const noexcept { return transposed ? pages->rows() : pages->columns(); }
  std::uint64_t blocks_down() const noexcept {
    return transposed ? pages->blocks_across() : pages->blocks_down();
  }
  std::uint64_t blocks_across() const noexcept {
    return transposed ? pages->blocks_down() : pages->blocks_across();
  }
  std::uint64_t page(std::uint64_t down, std::uint64_t across) const noexcept {
    return transposed ? pages->page(across, down) : pages->page(down, across);
  }
};

/// What is done with a block: its bytes, and those of the sources' blocks at the same place;
/// nullptr for one that holds zeros.
using block_step =
    std::function<void(block_extent const&, std::byte*, std::span<std::byte const* const> sources)>;

/// Does a step with each block of `into`. Where `zeros_stay` and all that a step would see are
/// zeros, it is left out. I/Os: a read for each block of the sources, and of `into` if it is kept,
/// and a write for each block of `into`.
/// @pre the sources are of the same pool, and their operands have the shape of `into`.
/// @throws io_error; some steps have been done then, and others not.
void for_each_block(matrix_pages& into, page_row::content old,
                    std::span<matrix_operand const> sources, bool zeros_stay,
                    block_step const& step);

/// A part of a row of blocks that is in memory: whole rows of the matrix, where they fit.
struct matrix_strip {
  std::uint64_t first_row = 0, first_column = 0;
  std::size_t rows = 0;
  std::uint64_t columns = 0;
  std::size_t block_columns = 0;
  std::span<std::byte* const> blocks;  ///< nullptr for one that holds zeros.

  /// Calls with(block, item, count) for the pieces of a row of the strip, from the left.
  template <typename With>
  void for_each_piece(std::size_t row, With const& with) const {
    for (std::size_t block = 0; block < blocks.size(); ++block)
      with(block, row * block_columns,
           static_cast<std::size_t>(
               std::min<std::uint64_t>(block_columns, columns - block * block_columns)));
  }
};

/// Does a step with each strip, from the top, in each row of blocks from the left. A strip takes up
/// to half of the pages that are free, so that the next one is read and the last one written
/// meanwhile. I/Os: a read, or a write, for each block. @throws as for_each_block().
void read_strips(matrix_pages const& from, std::function<void(matrix_strip const&)> const& step);
void replace_strips(matrix_pages& into, std::function<void(matrix_strip const&)> const& step);

/// Multiplies two blocks and adds the product to a third.
using block_kernel = std::function<void(std::byte* c, std::byte const* a, std::byte const* b,
                                        block_product const& how)>;

/// How many blocks of the result of a product are in memory at once: with those of a and b that go
/// by, and the next of these, no more than `pages`, if these are five at least.
/// @pre down > 0, across > 0.
struct product_tile {
  std::uint64_t down = 1, across = 1;
};
product_tile tile_of_product(std::uint64_t down, std::uint64_t across, std::size_t pages) noexcept;

/// c += a · b: tile by tile of c, with a column of blocks of a and a row of blocks of b after the
/// other. I/Os: with M · N blocks in c, K between, in tiles of s · t blocks: K · (M · ⌈N / t⌉ +
/// N · ⌈M / s⌉) reads, and M · N writes. The team computes one product of blocks in each thread.
/// @pre as for_each_block().
void add_product(matrix_pages& c, matrix_operand a, matrix_operand b, executor& team,
                 block_kernel const& kernel);

}  // namespace outsize::detail
