// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A file that is a further disk for a while, beside that of a storage.
//
//   block_id::disk:   0: the storage's disk      1: the guest
//
// The file is to hold something else later, as that of a sort's output, and has all its length
// before the first block is in it. It is a device of its own: the storage knows nothing of it.
// Blocks of the storage pass through, so that a sequence of blocks may lie on both.
//
// Invariant: blocks in the guest are disjoint. Thread rule as storage's. Layer: block.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <outsize/block/block_device.hpp>
#include <outsize/block/disk.hpp>
#include <outsize/block/disk_options.hpp>
#include <outsize/block/storage.hpp>

namespace outsize::block {

class guest_disk final : public block_space {
 public:
  /// Makes the guest's file and allocates all of its capacity. Its requests are counted as those of
  /// the host's disk, so the file should lie on the same device. Its bytes are not among the host's
  /// allocated_bytes(), and have no checksums of_all.
  /// @pre `host` has one disk, and outlives the guest.
  /// @throws io_error, which is_full() if there is too little space.
  guest_disk(storage& host, disk_options file);

  /// Allocates `length_bytes` (rounded up to the alignment) at the lowest free place at or behind
  /// `least_offset_bytes`; returns nothing if there is none. @pre less than 4 GiB.
  std::optional<block_id> allocate(std::size_t length_bytes, std::uint64_t least_offset_bytes);
  bool holds(block_id id) const noexcept { return id.disk == number_; }

  std::span<std::uint64_t const> disk_speeds() const noexcept override;
  std::size_t alignment_bytes() override;
  io::request_ptr read(block_id id, std::span<std::byte> into, io::completion done = {}) override;
  io::request_ptr read_now(block_id id, std::span<std::byte> into) override;
  io::request_ptr write(block_id id, std::span<std::byte const> from,
                        io::completion done = {}) override;
  void wait_for_block(block_id id, io::request& reading) const override;
  void free(block_id id) noexcept override;
  std::string const& disk_name(std::uint32_t index) const override;

 private:
  storage& host_;
  disk disk_;
  std::uint32_t number_;
};

}  // namespace outsize::block
