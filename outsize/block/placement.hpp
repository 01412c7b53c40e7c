// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Which disk the next block of a sequence goes to: the seam behind which allocation strategies
// live.
//
//   striping             block i on disk (first + i) mod D
//   randomized_cycling   block i on disk perm[i mod D], a random permutation for each sequence
//
// Both put any D consecutive blocks of a sequence on D different disks; cycling in random order
// makes simultaneous reading of many sequences balanced with high probability, whatever the data.
// One thread at a time uses a placement. Layer: block.
// Source: Vitter, Hutchinson: Distribution sort with randomized cycling, SODA 2001; STXXL 2008,
// section 4.

#include <cstddef>
#include <cstdint>
#include <memory>

namespace outsize::block {

/// The disks of the blocks of one sequence, one after the other.
class placement {
 public:
  placement() = default;
  placement(placement const&) = delete;
  placement& operator=(placement const&) = delete;
  virtual ~placement() = default;
  /// The disk preferred for the next block of the sequence.
  virtual std::uint32_t next_disk() = 0;
};

enum class placement_kind : std::uint8_t { striping, randomized_cycling };

/// Makes the placement of one sequence. The same kind, seed and sequence number give the same
/// disks.
std::unique_ptr<placement> make_placement(placement_kind kind, std::uint32_t disk_count,
                                          std::uint64_t seed, std::uint64_t sequence_number);

}  // namespace outsize::block
