// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/numeric/detail/bit_subspace.hpp>

#include <algorithm>
#include <bit>

namespace outsize::numeric {

bit_subspace bit_subspace::spanned_by(std::span<std::uint64_t const> vectors) {
  bit_subspace result;
  for (std::uint64_t const v : vectors) result.insert(v);
  return result;
}

bool bit_subspace::insert(std::uint64_t vector) {
  vector = residue(vector);
  if (vector == 0) return false;
  std::uint64_t const pivot = std::bit_floor(vector);
  for (auto& other : basis_)
    if ((other & pivot) != 0) other ^= vector;
  basis_.insert(std::ranges::upper_bound(basis_, vector), vector);
  pivots_ |= pivot;
  return true;
}

std::uint64_t bit_subspace::residue(std::uint64_t vector) const noexcept {
  // Each pivot bit belongs to one basis vector only, so the order of the subtractions is free.
  return vector ^ this->vector(coordinates(vector));
}

std::uint64_t bit_subspace::vector(std::uint64_t coordinates) const noexcept {
  std::uint64_t sum = 0;
  for (; coordinates != 0; coordinates &= coordinates - 1)
    sum ^= basis_[static_cast<std::size_t>(std::countr_zero(coordinates))];
  return sum;
}

std::uint64_t bit_subspace::coordinates(std::uint64_t vector) const noexcept {
  return extract_bits(vector, pivots_);
}

std::uint64_t bit_subspace::coset(std::uint64_t index) const noexcept {
  return deposit_bits(index, ~pivots_);
}

std::uint64_t extract_bits(std::uint64_t value, std::uint64_t mask) noexcept {
  std::uint64_t result = 0;
  for (unsigned place = 0; mask != 0; mask &= mask - 1, ++place)
    result |= (value >> std::countr_zero(mask) & 1) << place;
  return result;
}

std::uint64_t deposit_bits(std::uint64_t value, std::uint64_t mask) noexcept {
  std::uint64_t result = 0;
  for (; mask != 0 && value != 0; mask &= mask - 1, value >>= 1)
    result |= (value & 1) << std::countr_zero(mask);
  return result;
}

}  // namespace outsize::numeric
