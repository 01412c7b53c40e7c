// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Items of one type written into, and read from, the blocks of a list: the typed shell of
// block_writer and block_reader.
//
// No item spans two blocks. All blocks are full but the last, which is as short as its items allow;
// what the blocks hold is not written in them, so the number of items is kept beside the list, by
// whoever keeps the list. One thread at a time uses a reader or writer. Layer: block.
// Source: STXXL 2008, section 4 (buf_ostream, buf_istream).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <span>
#include <stdexcept>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/detail/item_room.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/base/piece_reader.hpp>
#include <outsize/block/block_reader.hpp>
#include <outsize/block/block_writer.hpp>
#include <outsize/block/typed_block.hpp>

namespace outsize::detail {

/// The same options, of a writer or reader, with buffers in which items of type T may lie.
template <typename T, typename Options>
Options aligned_for(Options options) {
  options.alignment_bytes = std::max(options.alignment_bytes, alignof(T));
  return options;
}

}  // namespace outsize::detail

namespace outsize::block {

/// Writes items behind each other.
///
///     block_item_writer<edge> out(blocks, memory);
///     for (…) out.push(e);
///     out.finish();                       // blocks holds out.size() edges
///
/// I/Os:    ⌈N / items of a block⌉ writes.
/// Memory:  buffer_count · block_bytes from the grant, until destruction.
/// Errors:  io_error of any block, from the first call that waits once it is known, and in the end
///          from finish(); out_of_space, budget_error. The writer can only be destroyed then; the
///          list holds blocks of unknown content.
/// Checked: item_blocks_test.cpp.
template <stored_item T>
class block_item_writer {
 public:
  /// Appends to `blocks`, which must be empty for block_item_reader to read them from its
  /// beginning; list and `memory` must outlive the writer.
  /// @throws std::invalid_argument if a block cannot hold one item; budget_error; io_error.
  block_item_writer(block_list& blocks, grant& memory, block_writer_options const& options = {})
      : writer_(blocks, memory, detail::aligned_for<T>(options)) {
    if (items_per_block() == 0)
      throw std::invalid_argument("block_item_writer: a block is smaller than an item");
  }

  std::size_t items_per_block() const noexcept {
    return typed_block<T>::items_in(writer_.block_bytes());
  }
  /// Items pushed.
  std::uint64_t size() const noexcept { return written_ + room_.filled(); }

  /// Adds an item, or all of a span; waits if all buffers are being written.
  /// @throws io_error, out_of_space, budget_error.
  void push(T const& item) {
    if (room_.full()) next_room();
    room_.put(item);
  }
  void push(std::span<T const> items) {
    while (!items.empty()) {
      if (room_.full()) next_room();
      items = room_.put(items);
    }
  }

  /// Writes the last block and waits until all are on disk. Nothing may be pushed afterwards.
  /// Without it the list lacks what was in memory.
  /// @throws io_error of the first block that is not on disk; out_of_space, budget_error.
  void finish() {
    OUTSIZE_ASSERT(!finished_);
    write_room();
    finished_ = true;
    writer_.finish();
  }

 private:
  void next_room() {
    OUTSIZE_ASSERT(!finished_);
    write_room();
    room_.begin(typed_block<T>(writer_.buffer()).items());
  }
  void write_room() {
    std::size_t const count = room_.end();
    written_ += count;
    if (count > 0) writer_.write(count * sizeof(T));
  }

  block_writer writer_;
  detail::item_room<T> room_;  // of the open block
  std::uint64_t written_ = 0;
  bool finished_ = false;
};

/// Reads them again: a reader of pieces, and a range to go over once (piece_reader.hpp).
///
///     for (block_item_reader<edge> in(blocks, count, memory); !in.empty(); ++in) use(*in);
///     block_item_reader<edge> in(std::move(blocks), count, memory);  // frees what it reads
///
/// I/Os:    One read for each block of the list, issued ahead of their use.
/// Memory:  As block_reader.
/// Errors:  io_error, from the constructor for the first block, and for each other one from the
///          call that asks for its first item, and from all later ones.
/// Checked: item_blocks_test.cpp.
template <stored_item T>
class block_item_reader : public piece_reader_interface<block_item_reader<T>, T> {
 public:
  /// Reads the first `item_count` items of what a block_item_writer<T> wrote; the list must not
  /// change, and outlive the reader, as `memory` must.
  /// @throws io_error, budget_error; std::invalid_argument if options.buffer_count is 1.
  block_item_reader(block_list const& blocks, std::uint64_t item_count, grant& memory,
                    block_reader_options const& options = {})
      : reader_(blocks, memory, detail::aligned_for<T>(options)), left_(item_count) {
    go_on();
  }
  /// Reads them and frees each block as soon as it is in memory.
  block_item_reader(block_list&& blocks, std::uint64_t item_count, grant& memory,
                    block_reader_options const& options = {})
      : reader_(std::move(blocks), memory, detail::aligned_for<T>(options)), left_(item_count) {
    go_on();
  }

  /// Items still to be read, the current one included.
  std::uint64_t size() const noexcept { return left_ + this->left(); }

 private:
  friend piece_reader_interface<block_item_reader, T>;

  bool is_over() const noexcept { return left_ == 0; }
  void go_on() {
    if (error_) std::rethrow_exception(error_);
    if (left_ == 0) return;
    std::span<T const> items = next_block();
    items = items.first(static_cast<std::size_t>(std::min<std::uint64_t>(items.size(), left_)));
    left_ -= items.size();
    this->show(items);
  }
  std::span<T const> next_block() {
    try {
      auto const block = reader_.next();
      OUTSIZE_ASSERT(!block.empty());  // the list has fewer items than the caller said
      return typed_block<T>(block).items();
    } catch (...) {
      error_ = std::current_exception();
      throw;
    }
  }

  block_reader reader_;
  std::uint64_t left_;  // in blocks that have not been shown
  std::exception_ptr error_;
};

}  // namespace outsize::block
