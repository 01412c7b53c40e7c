// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The blocks of one file of the user's: any stretches of it that begin at a multiple of its
// alignment, so that what is in a file may be cached, read ahead and written behind as blocks on
// disks are.
//
// The last block may be cut short by the end of the file. From any thread. Layer: block.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <outsize/block/block_device.hpp>
#include <outsize/io/file.hpp>

namespace outsize::block {

/// A file as a device of one disk; block_id::offset_bytes is the place in the file.
class file_blocks final : public block_device {
 public:
  /// `file` must outlive it.
  explicit file_blocks(io::file& file) noexcept : file_(file) {}

  std::span<std::uint64_t const> disk_speeds() const noexcept override { return speed_; }
  std::size_t alignment_bytes() override { return file_.alignment_bytes(); }
  io::request_ptr read(block_id id, std::span<std::byte> into, io::completion done = {}) override;
  io::request_ptr read_now(block_id id, std::span<std::byte> into) override;
  io::request_ptr write(block_id id, std::span<std::byte const> from,
                        io::completion done = {}) override;
  /// What of the block lies behind the end of the file is not there to be read.
  void wait_for_block(block_id id, io::request& reading) const override;

 private:
  static constexpr std::array<std::uint64_t, 1> speed_{1};

  io::file& file_;
};

}  // namespace outsize::block
