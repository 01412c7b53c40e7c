// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/block_device.hpp>

#include <outsize/base/error.hpp>
#include <outsize/block/checksum_table.hpp>

namespace outsize::block {

void block_space::check(block_id id, std::span<std::byte const> read,
                        std::uint64_t checksum) const {
  if (checksum_of(read) != checksum)
    throw corrupt_block(disk_name(id.disk), id.offset_bytes, read.size());
}

}  // namespace outsize::block
