// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How memory is divided among those who can use it: pure arithmetic.
//
//   bytes
//     most ┤              ╭──────    more cannot be used
//          │           ╭──╯          by weight
//     knee ┤        ╭──╯             more helps little
//          │    ╭───╯                in proportion to the knees
//    least ┼────╯                    less does not do
//          └──────────────────────▶ memory to be divided
//
// Layer: base. Source: Beckmann, Dementiev, Singler: Building a parallel pipelined external memory
// algorithm library, IPDPS 2009, section 5 (memory that divides itself, left to the future there).

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace outsize {

/// What one object needs and what it can use, in bytes. @invariant least <= knee <= most.
struct memory_claim {
  std::uint64_t least = 0;  ///< Without it the object cannot work.
  std::uint64_t knee = 0;   ///< What lies above helps little: one merge takes all runs, say.
  std::uint64_t most = 0;   ///< More it cannot use.
  double weight = 1;        ///< Of what lies above the knees it gets a share in proportion to this.

  /// Exactly so much.
  static constexpr memory_claim fixed(std::uint64_t bytes) noexcept {
    return {bytes, bytes, bytes};
  }
  friend bool operator==(memory_claim const&, memory_claim const&) = default;
};

/// The shares of `claims` in `total_bytes`, in their order; nothing if their least needs are more
/// than that. Each gets its least; what is left goes to the knees, in proportion to them, and then
/// to what is above, in proportion to the weights. Of what goes beyond the least needs, the last
/// `spare_bytes` are given to nobody.
///
/// The shares add up to `total_bytes` at most, each is between the least and the most of its claim;
/// with more memory none gets less, with more claims none gets more. O(n log n) for n claims.
std::optional<std::vector<std::uint64_t>> divide_memory(std::uint64_t total_bytes,
                                                        std::span<memory_claim const> claims,
                                                        std::uint64_t spare_bytes = 0);

}  // namespace outsize
