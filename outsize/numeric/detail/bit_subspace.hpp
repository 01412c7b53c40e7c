// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A linear subspace of the n-bit numbers, kept as its reduced basis: every basis vector has its
// highest bit, the pivot, to itself, and the basis ascends.
//
// What that is good for: the vector with coordinates i (the sum of those basis vectors whose bit is
// set in i) grows with i, in the subspace and, from the representative that has no pivot bit, in
// every coset; and the coordinates of a vector are simply its pivot bits. So the blocks of a memory
// load, which is a coset, are listed in ascending order without sorting. Values. Layer: numeric.

#include <cstdint>
#include <span>
#include <vector>

namespace outsize::numeric {

/// A subspace of GF(2)^64.
class bit_subspace {
 public:
  /// The subspace that these vectors span.
  static bit_subspace spanned_by(std::span<std::uint64_t const> vectors);

  /// Adds the vector to what is spanned; returns whether the dimension grew.
  /// CPU:     O(dimension), as for contains and residue.
  bool insert(std::uint64_t vector);
  bool contains(std::uint64_t vector) const noexcept { return residue(vector) == 0; }
  /// The member of the vector's coset without any pivot bit: the least one.
  std::uint64_t residue(std::uint64_t vector) const noexcept;

  unsigned dimension() const noexcept { return static_cast<unsigned>(basis_.size()); }
  /// The reduced basis, ascending.
  std::span<std::uint64_t const> basis() const noexcept { return basis_; }
  /// The bits that are a pivot.
  std::uint64_t pivots() const noexcept { return pivots_; }

  /// The sum of the basis vectors chosen by the bits of `coordinates`; ascends with them.
  std::uint64_t vector(std::uint64_t coordinates) const noexcept;
  /// The inverse of vector() on the subspace; elsewhere, of vector ⊕ residue(vector).
  std::uint64_t coordinates(std::uint64_t vector) const noexcept;
  /// The least member of coset number `index`; cosets are numbered by their least members.
  std::uint64_t coset(std::uint64_t index) const noexcept;

  friend bool operator==(bit_subspace const&, bit_subspace const&) = default;

 private:
  std::vector<std::uint64_t> basis_;
  std::uint64_t pivots_ = 0;
};

/// The bits of `value` at the places set in `mask`, moved together to the low end.
std::uint64_t extract_bits(std::uint64_t value, std::uint64_t mask) noexcept;
/// The low bits of `value` spread to the places set in `mask`.
std::uint64_t deposit_bits(std::uint64_t value, std::uint64_t mask) noexcept;

}  // namespace outsize::numeric
