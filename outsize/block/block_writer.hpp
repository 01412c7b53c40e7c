// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Appends blocks to a list and writes them while the user fills the next: a buffer_pool and a
// write_queue behind one face, for bytes of any meaning. item_blocks.hpp puts items into it.
//
// Invariant: buffers that are free, under way and open (at most one) are buffer_count together. One
// thread at a time uses a writer. Layer: block. Source: STXXL 2008, section 4 (buf_ostream).

#include <cstddef>

#include <outsize/base/memory_budget.hpp>
#include <outsize/block/block_list.hpp>
#include <outsize/block/buffer_pool.hpp>
#include <outsize/block/write_queue.hpp>

namespace outsize::block {

/// How blocks are written.
struct block_writer_options {
  std::size_t block_bytes = std::size_t{1} << 20;  ///< Of a full block; rounded up.
  /// One is filled while the others are written; 1 does not overlap. 0: two for each disk.
  std::size_t buffer_count = 0;
  /// What the addresses of buffers shall be multiples of; the disks' alignment goes without saying.
  std::size_t alignment_bytes = alignof(std::max_align_t);
};

/// Fills and writes one block after the other.
///
///     block_writer out(blocks, memory);
///     while (…) out.write(fill(out.buffer()));
///     out.finish();
///
/// I/Os:    One for each write().
/// Memory:  buffer_count · block_bytes from the grant, until destruction.
/// Errors:  io_error of any block, from the next call after it is known, and in the end from
///          finish(); out_of_space, budget_error. The list holds blocks of unknown content then.
/// Checked: block_writer_test.cpp.
class block_writer {
 public:
  /// Appends to `blocks`, which must outlive it, as `memory` must; others leave the list alone
  /// until finish(). @throws budget_error; io_error (the disks' files cannot be made);
  /// std::invalid_argument for blocks of 4 GiB and more.
  block_writer(block_list& blocks, grant& memory, block_writer_options const& options = {});
  block_writer(block_writer const&) = delete;
  block_writer& operator=(block_writer const&) = delete;
  /// Waits for writes under way and says nothing of their errors: finish() does.
  ~block_writer();

  /// The length of a full block: options.block_bytes rounded up.
  std::size_t block_bytes() const noexcept { return pool_.buffer_bytes(); }

  /// The buffer to fill next, block_bytes() long; the same one until write(). Waits for a write to
  /// end if all other buffers are under way. @throws io_error.
  frame buffer();
  /// Appends a block as long as the first `used_bytes` of buffer(), which are filled, need, and
  /// begins to write it. @pre buffer() was called, 0 < used_bytes <= block_bytes().
  /// @throws io_error, out_of_space, budget_error; the block has not been appended then.
  void write(std::size_t used_bytes);
  /// Waits until all blocks are on disk. @throws io_error of the first that is not.
  void finish();

 private:
  block_list& blocks_;
  buffer_pool pool_;
  write_queue queue_;
  frame open_;
};

}  // namespace outsize::block
