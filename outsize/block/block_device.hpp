// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What blocks are read from and written to: the disks of a storage (storage.hpp), these and a file
// besides (guest_disk.hpp), a file of the user's (file_blocks.hpp), or a kept file
// (kept_blocks.hpp). Layer: block.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <outsize/block/block_id.hpp>
#include <outsize/io/request.hpp>

namespace outsize::block {

/// Transfers of blocks, from any thread.
class block_device {
 public:
  block_device() = default;
  block_device(block_device const&) = delete;
  block_device& operator=(block_device const&) = delete;
  virtual ~block_device() = default;

  /// How fast each disk reads beside the others. If there are several, block_id::disk is less than
  /// their number.
  virtual std::span<std::uint64_t const> disk_speeds() const noexcept = 0;
  /// What lengths of blocks and addresses of their buffers must be multiples of. @throws io_error.
  virtual std::size_t alignment_bytes() = 0;

  /// Issues a transfer of a prefix of the block (rounded up to the alignment). A write may be of
  /// several blocks of this length, side by side, of which this is the first. See io::file.
  virtual io::request_ptr read(block_id id, std::span<std::byte> into,
                               io::completion done = {}) = 0;
  /// Reads a block for a caller that waits for it at once. See io::file::read_now().
  virtual io::request_ptr read_now(block_id id, std::span<std::byte> into) = 0;
  virtual io::request_ptr write(block_id id, std::span<std::byte const> from,
                                io::completion done = {}) = 0;

  /// Waits until `reading` has brought all that there is of the block. @throws io_error; one that
  /// is cut short, as a file cut by others is, is an error too (EIO).
  virtual void wait_for_block(block_id id, io::request& reading) const = 0;
};

/// A device that allocates its blocks, and takes them back.
class block_space : public block_device {
 public:
  /// Gives the space of a block back. @pre no request on it is under way.
  virtual void free(block_id id) noexcept = 0;
  /// The path of a disk, for messages.
  virtual std::string const& disk_name(std::uint32_t index) const = 0;

  /// Throws corrupt_block if the bytes read from a block do not have `checksum` (checksum_of()),
  /// which whoever wrote them has kept.
  void check(block_id id, std::span<std::byte const> read, std::uint64_t checksum) const;
};

/// A space that needs to be told nothing but the length of a block to find a place for it.
class block_allocator : public block_space {
 public:
  /// @throws out_of_space, io_error, budget_error.
  virtual block_id allocate(std::size_t length_bytes) = 0;
};

}  // namespace outsize::block
