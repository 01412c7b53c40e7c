// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/block_reader.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>

namespace outsize::block {
namespace {

std::size_t buffer_bytes(block_list const& blocks, block_reader_options const& options) {
  return round_up(std::max<std::size_t>(blocks.longest_bytes(), 1),
                  std::max(options.alignment_bytes, blocks.store().alignment_bytes()));
}

std::size_t buffer_count(block_list const& blocks, block_reader_options const& options) {
  if (options.buffer_count == 1)
    throw std::invalid_argument("a block reader needs two buffers at least");
  return options.buffer_count != 0 ? options.buffer_count : 2 * blocks.store().disk_count();
}

}  // namespace

block_reader::block_reader(block_list const& blocks, grant& memory,
                           block_reader_options const& options)
    : memory_(memory), pool_(memory, buffer_bytes(blocks, options), buffer_count(blocks, options)) {
  memory_.charge(blocks.size() * prefetcher::bytes_per_block);
  try {
    ahead_.emplace(blocks.store(), pool_, std::vector<block_id>(blocks.begin(), blocks.end()),
                   pool_.count() - 1);
  } catch (...) {
    memory_.discharge(blocks.size() * prefetcher::bytes_per_block);
    throw;
  }
}

block_reader::block_reader(block_list&& blocks, grant& memory, block_reader_options const& options)
    : block_reader(std::as_const(blocks), memory, options) {
  given_.emplace(std::move(blocks));
}

block_reader::~block_reader() {
  if (!held_.empty()) pool_.release(held_);
  memory_.discharge(ahead_->block_count() * prefetcher::bytes_per_block);
}

std::span<std::byte> block_reader::next() {
  if (!held_.empty()) ahead_->release(std::exchange(held_, {}));
  if (next_ == ahead_->block_count()) return {};
  held_ = ahead_->take(next_);
  if (given_) given_->free_front();
  return held_.first(ahead_->block(next_++).length_bytes);
}

}  // namespace outsize::block
