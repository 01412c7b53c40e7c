// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Which disk the next block of a sequence goes to: the seam behind which allocation strategies
// live.
//
//   striping             block i on disk (first + i) mod D; the next sequence begins one disk later
//   simple_randomized    the same from a random first disk
//   fully_randomized     every block on a random disk
//   randomized_cycling   block i on disk perm[i mod D], a random permutation for each sequence
//   single_disk          a whole sequence on one disk, the next sequence on the next disk
//
// All but the third and last put any D consecutive blocks of a sequence on D different disks.
// Cycling in random order makes simultaneous reading of many sequences balanced with high
// probability, whatever the data.
//
// Disks that are not alike have weights. A strategy goes round a cycle of turns in which each disk
// has as many as its weight says, as evenly apart as can be; with equal weights the cycle is the D
// disks. One thread at a time uses a placement. Layer: block.
// Source: STXXL 2008, section 4; Barve, Grove, Vitter: Simple randomized mergesort on parallel
// disks, Parallel Computing 23(4), 1997; Vitter, Hutchinson: Distribution sort with randomized
// cycling, SODA 2001.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace outsize::block {

/// The disks of the blocks of one sequence, one after the other.
class placement {
 public:
  explicit placement(std::vector<std::uint32_t> disks) : disks_(std::move(disks)) {}
  placement(placement const&) = delete;
  placement& operator=(placement const&) = delete;
  virtual ~placement() = default;
  /// The disk preferred for the next block of the sequence.
  virtual std::uint32_t next_disk() = 0;
  /// All that may be used: where the one preferred is full, the next of these takes over.
  std::span<std::uint32_t const> disks() const noexcept { return disks_; }

 private:
  std::vector<std::uint32_t> disks_;
};

enum class placement_kind : std::uint8_t {
  striping,
  simple_randomized,
  fully_randomized,
  randomized_cycling,
  single_disk,
};

/// A strategy, and the disks to which it is restricted.
struct placement_options {
  placement_kind kind = placement_kind::randomized_cycling;
  std::vector<std::uint32_t> disks = {};  ///< Each once, in the order of striping; empty: all.
};

/// Makes the placement of one sequence. The same arguments give the same disks, on any machine.
/// @param weights  Of each disk of the storage, used or not: a disk with twice the weight gets
///                 twice the blocks. Ratios beyond 256 count as 256.
/// @pre weights are positive; options.disks are below weights.size().
/// CPU:     O(D² · ratio of the weights) once, O(1) for each block.
std::unique_ptr<placement> make_placement(placement_options const& options,
                                          std::span<std::uint64_t const> weights,
                                          std::uint64_t seed, std::uint64_t sequence_number);

}  // namespace outsize::block
