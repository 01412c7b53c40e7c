// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The pages of one row of a kept file as places for blocks that are written once and then freed,
// such as those of runs.
//
//   page:        0      1      2      3
//              | used | free | used | used |    allocated next: the first one that is free
//   block_id:    disk = number of the page, offset = its place in the file
//
// A block that is freed stays as it was until the next commit, if the last one needs it; its number
// can be used again at once.
//
// Invariant: a page has a place in the file if and only if it is allocated. One thread at a time
// allocates and frees; transfers from any thread. Layer: page.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <outsize/block/block_device.hpp>
#include <outsize/page/detail/kept_file.hpp>

namespace outsize::detail {

/// Blocks in a kept file; see the top of this file.
///
/// I/Os:    none but those of blocks.
/// Memory:  none beside the file's.
/// Checked: kept_blocks_test.cpp.
class kept_blocks final : public block::block_allocator {
 public:
  kept_blocks(std::shared_ptr<kept_file> file, std::size_t row) noexcept
      : file_(file), pages_(std::move(file), row) {}

  /// The most that a block can have.
  std::size_t block_bytes() const noexcept { return pages_.page_bytes(); }
  /// The number of pages, free ones too.
  std::uint64_t pages() const noexcept { return pages_.end(); }
  /// The block of page `number`; its offset is 0 if nothing was written there.
  block::block_id block(std::uint64_t number, std::size_t length_bytes) const noexcept;
  /// Gives up the free pages at the end, so that the index of the file has none of them.
  void trim() noexcept;

  /// @throws out_of_space, io_error, budget_error. @pre length_bytes <= block_bytes().
  block::block_id allocate(std::size_t length_bytes) override;
  void free(block::block_id id) noexcept override;
  std::string const& disk_name(std::uint32_t) const override { return file_->name(); }

  std::span<std::uint64_t const> disk_speeds() const noexcept override;
  /// The same wherever the file is opened.
  std::size_t alignment_bytes() override;
  io::request_ptr read(block::block_id id, std::span<std::byte> into,
                       io::completion done = {}) override;
  io::request_ptr read_now(block::block_id id, std::span<std::byte> into) override;
  io::request_ptr write(block::block_id id, std::span<std::byte const> from,
                        io::completion done = {}) override;
  void wait_for_block(block::block_id id, io::request& reading) const override;

 private:
  std::shared_ptr<kept_file> file_;
  mutable kept_pages pages_;
  std::uint64_t first_free_ = 0;  // no page before it is free
};

}  // namespace outsize::detail
