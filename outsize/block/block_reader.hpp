// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Reads the blocks of a list from front to back, ahead of their use: a buffer_pool and a prefetcher
// behind one face, for bytes of any meaning. item_blocks.hpp takes items out of it.
//
// A list that is only lent stays as it is. One that is given away is freed block by block, each as
// soon as it is in memory, so that what is written meanwhile can take its place.
//
// Invariant: at most buffer_count blocks are under way or in memory, one of them the user's. One
// thread at a time uses a reader. Layer: block. Source: STXXL 2008, section 4 (buf_istream).

#include <cstddef>
#include <optional>
#include <span>

#include <outsize/base/memory_budget.hpp>
#include <outsize/block/block_list.hpp>
#include <outsize/block/buffer_pool.hpp>
#include <outsize/block/prefetcher.hpp>

namespace outsize::block {

/// How blocks are read.
struct block_reader_options {
  /// One is the user's while the others are read ahead; at least 2. 0: two for each disk.
  std::size_t buffer_count = 0;
  /// What the addresses of buffers shall be multiples of; the disks' alignment goes without saying.
  std::size_t alignment_bytes = alignof(std::max_align_t);
};

/// Hands out one block after the other.
///
///     block_reader in(blocks, memory);
///     for (auto block = in.next(); !block.empty(); block = in.next()) use(block);
///
/// I/Os:    One for each block, in the optimal order for the disks (prefetch_schedule.hpp).
/// Memory:  buffer_count times the longest block, and prefetcher::bytes_per_block for each block,
///          from the grant, until destruction.
/// Errors:  io_error of a block from the next() that would hand it out; the reader can only be
///          destroyed then.
/// Checked: block_reader_test.cpp.
class block_reader {
 public:
  /// Reads the blocks that `blocks` has now; it must not change, and outlive the reader, as
  /// `memory` must. @throws budget_error; std::invalid_argument if buffer_count is 1.
  block_reader(block_list const& blocks, grant& memory, block_reader_options const& options = {});
  /// Reads and frees them. The list is unchanged if this throws.
  block_reader(block_list&& blocks, grant& memory, block_reader_options const& options = {});
  block_reader(block_reader const&) = delete;
  block_reader& operator=(block_reader const&) = delete;
  /// Waits for the reads under way, and frees what is left of a list that was given away.
  ~block_reader();

  /// The next block in all its length, rounded up to the disk's alignment as it is; the memory is
  /// the user's, to change as well, until the next call. Empty at the end. @throws io_error.
  std::span<std::byte> next();

 private:
  std::optional<block_list> given_;  // ends after ahead_, when no read is under way
  grant& memory_;
  buffer_pool pool_;
  std::optional<prefetcher> ahead_;
  frame held_;
  std::size_t next_ = 0;
};

}  // namespace outsize::block
