// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A permutation of a range of numbers, number by number: no memory, no disk, whatever the range.
//
// A Feistel network of six rounds permutes the numbers below a power of four that is not far above
// the range; what falls outside is permuted again until it falls inside. For chance, not against
// those who want to foresee it. Immutable, usable from any number of
// threads. Layer: text. Source: Luby, Rackoff: How to construct pseudorandom permutations from
// pseudorandom functions, 1988; Black, Rogaway: Ciphers with arbitrary finite domains, 2002.

#include <array>
#include <cstdint>

#include <outsize/text/random_salt.hpp>

namespace outsize::text {

/// Meant for large ranges: of the permutations of very few numbers some cannot occur.
class random_permutation {
 public:
  /// Of 0 … size - 1. @pre size > 0.
  random_permutation(random_salt const& salt, std::uint64_t size) noexcept;

  /// Where `index` < size goes.
  std::uint64_t operator()(std::uint64_t index) const noexcept;

 private:
  std::uint64_t permute_once(std::uint64_t number) const noexcept;

  std::array<std::uint64_t, 6> keys_{};  // of the rounds
  std::uint64_t size_;
  unsigned half_bits_;
};

}  // namespace outsize::text
