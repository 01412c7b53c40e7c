// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How a BMMC permutation divides its memory: the size of a load, the number of loads that are under
// way together, and the size of a block.
//
// Large loads and small blocks need few passes (bmmc_plan.hpp); large blocks move faster, and more
// loads under way overlap better. So every sensible combination is planned, and the one with the
// least estimated time is taken. Pure functions. Layer: numeric.

#include <cstddef>
#include <cstdint>

#include <outsize/numeric/bit_matrix.hpp>
#include <outsize/numeric/detail/bmmc_plan.hpp>

namespace outsize::numeric {

/// What is to be permuted, and with what.
struct bmmc_limits {
  std::size_t record_bytes = 8;     ///< A power of two.
  std::uint64_t memory_bytes = 0;   ///< For all buffers.
  std::size_t alignment_bytes = 1;  ///< What the files ask for; a power of two.
  std::size_t block_bytes = 0;      ///< 0: chosen.
};

/// The division of the memory. `buffer_count` buffers of one load each, one of them the target of
/// the permutation in memory.
struct bmmc_loads {
  bmmc_memory sizes;
  std::size_t buffer_count = 0;

  friend bool operator==(bmmc_loads const& x, bmmc_loads const& y) {
    return x.sizes.memory_bits == y.sizes.memory_bits && x.sizes.block_bits == y.sizes.block_bits &&
           x.buffer_count == y.buffer_count;
  }
};

/// The bytes of a request on that side of a pass: a run of neighbouring blocks, cut to the longest.
std::size_t source_request_bytes(bmmc_pass const& pass, std::size_t record_bytes);
std::size_t target_request_bytes(bmmc_pass const& pass, std::size_t record_bytes);

/// Chooses the division for a nonsingular map.
///
/// CPU:     O(n³) for each of up to a few hundred combinations.
/// Errors:  budget_error if the memory does not hold two loads of the fewest blocks (one if no
///          record leaves its block, else two); std::invalid_argument, naming the number, if
///          block_bytes is no power of two of at least a record and the alignment.
/// Checked: bmmc_loads_test.cpp
bmmc_loads choose_bmmc_loads(affine_map const& map, bmmc_limits const& limits);

}  // namespace outsize::numeric
