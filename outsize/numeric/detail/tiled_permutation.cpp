// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/numeric/detail/tiled_permutation.hpp>

#include <algorithm>
#include <bit>

#include <outsize/numeric/detail/bit_subspace.hpp>

namespace outsize::numeric {
namespace {

/// The vectors spanned by the basis from element `first` on, in ascending order.
std::vector<std::uint64_t> row_offsets(std::span<std::uint64_t const> basis, unsigned first) {
  std::vector<std::uint64_t> offsets{0};
  for (std::size_t k = first; k < basis.size(); ++k)
    for (std::size_t i = 0, count = offsets.size(); i < count; ++i)
      offsets.push_back(offsets[i] ^ basis[k]);
  return offsets;
}

}  // namespace

tiled_permutation::tiled_permutation(bit_matrix const& matrix, std::size_t record_bytes)
    : size_(matrix.size()),
      record_bytes_(record_bytes),
      row_bits_(std::min(row_bits_for(record_bytes), matrix.size())) {
  choose_tile_space(matrix.inverse());
  fill_tables(matrix);
}

void tiled_permutation::choose_tile_space(bit_matrix const& inverse) {
  bit_subspace space;
  for (unsigned j = 0; j < row_bits_; ++j) {
    space.insert(std::uint64_t{1} << j);
    space.insert(inverse.column(j));
  }
  // A tile that needs fewer dimensions takes longer rows, alternately on both sides, so that what a
  // tile costs is spread over as many records.
  for (unsigned j = row_bits_; j < size_ && space.dimension() < 2 * row_bits_; ++j) {
    space.insert(std::uint64_t{1} << j);
    if (space.dimension() < 2 * row_bits_) space.insert(inverse.column(j));
  }
  source_basis_.assign(space.basis().begin(), space.basis().end());
}

void tiled_permutation::fill_tables(bit_matrix const& matrix) {
  auto const source_space = bit_subspace::spanned_by(source_basis_);
  bit_subspace target_space;
  for (auto const v : source_basis_) target_space.insert(matrix.apply(v));
  target_basis_.assign(target_space.basis().begin(), target_space.basis().end());
  target_pivots_ = target_space.pivots();
  source_rows_ = row_offsets(source_basis_, row_bits_);
  target_rows_ = row_offsets(target_basis_, row_bits_);

  inner_.resize(std::size_t{1} << source_basis_.size());
  for (std::size_t i = 0; i < inner_.size(); ++i)
    inner_[i] =
        static_cast<std::uint16_t>(target_space.coordinates(matrix.apply(source_space.vector(i))));
  for (std::size_t k = 0; k + source_basis_.size() < size_; ++k) {
    std::uint64_t const source = source_space.coset(std::uint64_t{1} << k);
    tile_columns_.push_back(split_target(source, matrix.apply(source)));
  }
}

tiled_permutation::tile tiled_permutation::split_target(std::uint64_t source,
                                                        std::uint64_t target) const noexcept {
  std::uint64_t const inner = extract_bits(target, target_pivots_);
  for (std::size_t k = 0; k < target_basis_.size(); ++k)
    if ((inner >> k & 1) != 0) target ^= target_basis_[k];
  return {source, target, static_cast<std::uint32_t>(inner)};
}

tiled_permutation::tile tiled_permutation::find_tile(std::uint64_t index, tile at) const noexcept {
  for (; index != 0; index &= index - 1) {
    auto const& column = tile_columns_[static_cast<std::size_t>(std::countr_zero(index))];
    at.source ^= column.source;
    at.target ^= column.target;
    at.inner ^= column.inner;
  }
  return at;
}

}  // namespace outsize::numeric
