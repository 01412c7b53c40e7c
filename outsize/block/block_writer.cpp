// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/block_writer.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/units.hpp>

namespace outsize::block {

namespace {

/// Both alignments are powers of two, so a multiple of the greater is one of the other.
std::size_t full_block_bytes(block_list const& blocks, block_writer_options const& options) {
  std::size_t const bytes =
      round_up(std::max<std::size_t>(options.block_bytes, 1),
               std::max(options.alignment_bytes, blocks.store().alignment_bytes()));
  if (bytes > std::numeric_limits<decltype(block_id::length_bytes)>::max())
    throw std::invalid_argument(
        fmt::format("block_writer: blocks of {} are too long", format_bytes(bytes)));
  return bytes;
}

}  // namespace

block_writer::block_writer(block_list& blocks, grant& memory, block_writer_options const& options)
    : blocks_(blocks),
      pool_(memory, full_block_bytes(blocks, options),
            options.buffer_count != 0 ? options.buffer_count : 2 * blocks.store().disk_count()),
      queue_(blocks.store(), pool_) {}

block_writer::~block_writer() {
  if (!open_.empty()) pool_.release(open_);
}

frame block_writer::buffer() {
  if (open_.empty()) open_ = queue_.acquire();
  return open_;
}

void block_writer::write(std::size_t used_bytes) {
  OUTSIZE_ASSERT(!open_.empty() && used_bytes > 0 && used_bytes <= block_bytes());
  block_id const id = blocks_.append(used_bytes);
  try {
    queue_.write(id, std::exchange(open_, {}));
  } catch (...) {  // nothing was issued
    blocks_.free_back();
    throw;
  }
}

void block_writer::finish() { queue_.flush(); }

}  // namespace outsize::block
