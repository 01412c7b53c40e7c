// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Where a block lies: the disk, the place on it, the length. A value; whoever allocated it frees
// it. Bytes that are all zero are an id that names no block. Layer: block.

#include <cstdint>

namespace outsize::block {

/// The place of a block on one of the disks of a storage; by default of none.
struct block_id {
  std::uint64_t offset_bytes = 0;
  std::uint32_t disk = 0;
  std::uint32_t length_bytes = 0;  ///< Of the space allocated: a multiple of the disk's alignment.

  /// Whether it names a block.
  explicit operator bool() const noexcept { return length_bytes != 0; }
  friend bool operator==(block_id const&, block_id const&) = default;
};

}  // namespace outsize::block
