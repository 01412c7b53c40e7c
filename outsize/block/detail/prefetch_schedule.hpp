// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The order in which to read blocks that will be needed in a known order, from D disks of any
// speeds, into m buffers.
//
// Reading ahead in the order of need leaves disks idle when many blocks in a row lie on one of
// them. The optimal order is the mirror image of queued writing: write the sequence backwards
// through m buffers with a FIFO for each disk, every disk writing whenever its FIFO is not empty;
// the order of those writes, reversed, is the order in which to read. For D = 1 it is the order of
// need itself. Disks of different speeds, of which the source knows nothing, write in times of
// their own. A pure function. Layer: block. Source: Hutchinson, Sanders, Vitter: Duality between
// prefetching and queued writing with parallel disks, SIAM J. Comput. 34(6), 2005; used as in STXXL
// 2008, section 6.1.4.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace outsize::block {

/// The indices 0 … n-1 of the blocks in the order in which to issue their reads.
///
/// @param disk_of       The disk of each block, in the order of need; all below speeds.size().
/// @param speeds        Of the disks, in any unit, above 0.
/// @param buffer_count  Blocks that may have been read and not yet needed, at least 1.
/// @return An order in which reads, each issued as soon as a buffer is free, never wait for a block
/// that cannot be read, and take the fewest parallel steps if all disks are as fast.
/// CPU:     O(n · D).
std::vector<std::uint32_t> prefetch_schedule(std::span<std::uint32_t const> disk_of,
                                             std::span<std::uint64_t const> speeds,
                                             std::size_t buffer_count);

}  // namespace outsize::block
