// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Where a block lies: the disk, the place on it, the length. A value; whoever allocated it frees
// it. Layer: block.

#include <cstdint>

namespace outsize::block {

/// The place of a block on one of the disks of a storage.
struct block_id {
  std::uint64_t offset_bytes = 0;
  std::uint32_t disk = 0;
  std::uint32_t length_bytes = 0;  ///< Of the space allocated: a multiple of the disk's alignment.

  friend bool operator==(block_id const&, block_id const&) = default;
};

}  // namespace outsize::block
