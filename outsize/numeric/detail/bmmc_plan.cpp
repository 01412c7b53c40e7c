// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/numeric/detail/bmmc_plan.hpp>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <outsize/base/assert.hpp>

namespace outsize::numeric {
namespace {

using vectors = std::vector<std::uint64_t>;

std::uint64_t unit(unsigned i) noexcept { return std::uint64_t{1} << i; }

/// The vectors of L = span(e_0 … e_{b-1}) that the map sends into L: the kernel of γ.
bit_subspace shared_space(bit_matrix const& a, unsigned block_bits) {
  // Sums of columns of γ, each with the e_j it is made of in the bits that γ leaves free.
  vectors sums, origins, kernel;
  for (unsigned j = 0; j < block_bits; ++j) {
    std::uint64_t sum = a.column(j) & ~low_bits(block_bits), origin = unit(j);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      if ((sum & std::bit_floor(sums[k])) == 0) continue;
      sum ^= sums[k];
      origin ^= origins[k];
    }
    if (sum == 0) {
      kernel.push_back(origin);
    } else {
      sums.push_back(sum);
      origins.push_back(origin);
    }
  }
  return bit_subspace::spanned_by(kernel);
}

/// Those of the candidates that are independent of the space and of the ones before them.
vectors extension(bit_subspace space, std::span<std::uint64_t const> candidates) {
  vectors chosen;
  for (auto const v : candidates)
    if (space.insert(v)) chosen.push_back(v);
  return chosen;
}

/// The matrix that sends the first layers of the basis to the low unit vectors: `block` to
/// e_0 … e_{b-1}, `load` ⊇ `block` to e_0 … e_{m-1}.
bit_matrix layout_matrix(bit_subspace const& block, bit_subspace const& load, unsigned size) {
  vectors basis(block.basis().begin(), block.basis().end());
  bit_subspace spanned = block;
  auto const append = [&](std::uint64_t v) {
    if (spanned.insert(v)) basis.push_back(v);
  };
  for (auto const v : load.basis()) append(v);
  for (unsigned j = 0; j < size; ++j) append(unit(j));
  return bit_matrix::from_columns(basis).inverse();
}

/// Fills the load up to m dimensions so that its blocks become neighbours: in the source, whose
/// places `source_place` maps back to original indices, or if `target_place` is given alternately
/// in source and target.
void widen(bit_subspace& load, bmmc_memory memory, bit_matrix const& source_place,
           bit_matrix const* target_place) {
  for (unsigned j = memory.block_bits; load.dimension() < memory.memory_bits; ++j) {
    OUTSIZE_ASSERT(j < source_place.size());
    load.insert(source_place.column(j));
    if (target_place != nullptr && load.dimension() < memory.memory_bits)
      load.insert(target_place->column(j));
  }
}

bit_subspace image(bit_matrix const& matrix, bit_subspace const& space) {
  bit_subspace result;
  for (auto const v : space.basis()) result.insert(matrix.apply(v));
  return result;
}

/// The layouts V_0 … V_k that exchange L for A⁻¹L, as evenly as possible.
std::vector<bit_subspace> block_layouts(bit_matrix const& a, bit_matrix const& a_inverse,
                                        unsigned block_bits, unsigned pass_count) {
  bit_subspace const shared = shared_space(a, block_bits);
  vectors units, preimages;
  for (unsigned j = 0; j < block_bits; ++j) {
    units.push_back(unit(j));
    preimages.push_back(a_inverse.column(j));
  }
  vectors const leaving = extension(shared, units);
  vectors const entering = extension(shared, preimages);
  OUTSIZE_ASSERT(leaving.size() == entering.size());
  std::vector<bit_subspace> layouts;
  for (unsigned i = 0; i <= pass_count; ++i) {
    std::size_t const exchanged = leaving.size() * i / pass_count;
    bit_subspace layout = shared;
    for (std::size_t k = 0; k < leaving.size(); ++k)
      layout.insert(k < exchanged ? entering[k] : leaving[k]);
    layouts.push_back(std::move(layout));
  }
  return layouts;
}

std::vector<std::uint64_t> list_blocks(bit_subspace const& space, std::uint64_t coset,
                                       unsigned block_bits) {
  std::vector<std::uint64_t> blocks{coset >> block_bits};
  blocks.reserve(std::size_t{1} << (space.dimension() - block_bits));
  for (auto const v : space.basis().subspan(block_bits))
    for (std::size_t i = 0, count = blocks.size(); i < count; ++i)
      blocks.push_back(blocks[i] ^ v >> block_bits);
  return blocks;
}

}  // namespace

// -------------------------------------------------------------------------------------- pass

bmmc_pass::bmmc_pass(affine_map map, bit_subspace load, unsigned block_bits)
    : map_(map),
      block_bits_(block_bits),
      source_space_(std::move(load)),
      target_space_(image(map_.a, source_space_)) {
  OUTSIZE_ASSERT(source_space_.dimension() == target_space_.dimension());
  for (unsigned j = 0; j < block_bits_; ++j)
    OUTSIZE_ASSERT(source_space_.contains(unit(j)) && target_space_.contains(unit(j)));
  vectors columns;
  for (auto const v : source_space_.basis())
    columns.push_back(target_space_.coordinates(map_.a.apply(v)));
  slot_matrix_ = bit_matrix::from_columns(columns);
}

std::uint64_t bmmc_pass::load_count() const noexcept {
  return std::uint64_t{1} << (map_.a.size() - source_space_.dimension());
}

std::uint64_t bmmc_pass::records_per_load() const noexcept {
  return std::uint64_t{1} << source_space_.dimension();
}

std::uint64_t bmmc_pass::target_coset(std::uint64_t load) const noexcept {
  return map_.apply(source_space_.coset(load));
}

std::vector<std::uint64_t> bmmc_pass::source_blocks(std::uint64_t load) const {
  OUTSIZE_ASSERT(load < load_count());
  return list_blocks(source_space_, source_space_.coset(load), block_bits_);
}

std::vector<std::uint64_t> bmmc_pass::target_blocks(std::uint64_t load) const {
  OUTSIZE_ASSERT(load < load_count());
  return list_blocks(target_space_, target_space_.residue(target_coset(load)), block_bits_);
}

std::uint64_t bmmc_pass::slot_complement(std::uint64_t load) const noexcept {
  return target_space_.coordinates(target_coset(load));
}

std::uint64_t bmmc_pass::run_blocks(bit_subspace const& space) const noexcept {
  auto const basis = space.basis();
  unsigned run_bits = block_bits_;
  while (run_bits < basis.size() && basis[run_bits] == unit(run_bits)) ++run_bits;
  return unit(run_bits - block_bits_);
}

// -------------------------------------------------------------------------------------- plan

bmmc_plan::bmmc_plan(affine_map const& map, bmmc_memory memory) : map_(map) {
  unsigned const size = map.a.size();
  OUTSIZE_ASSERT(size < max_bit_count && (map.c & ~low_bits(size)) == 0);
  memory_.memory_bits = std::min(memory.memory_bits, size);
  memory_.block_bits = std::min(memory.block_bits, memory_.memory_bits);
  unsigned const b = memory_.block_bits, per_pass = memory_.memory_bits - b;
  bit_matrix const inverse = map.a.inverse();
  gamma_rank_ = map.a.rank({b, size}, {0, b});
  if (gamma_rank_ > 0 && per_pass == 0)
    throw std::invalid_argument(fmt::format(
        "BMMC permutation: a memory load of 2^{} records is a single block, need at least two",
        memory_.memory_bits));

  unsigned const pass_count = gamma_rank_ == 0 ? 1 : (gamma_rank_ + per_pass - 1) / per_pass;
  auto const layouts = block_layouts(map.a, inverse, b, pass_count);
  bit_matrix place = bit_matrix::identity(size), place_inverse = place;  // P_{i-1} and its inverse
  for (unsigned i = 0; i < pass_count; ++i) {
    bool const is_last = i + 1 == pass_count;
    bit_subspace load = layouts[i];
    for (auto const v : layouts[i + 1].basis()) load.insert(v);
    widen(load, memory_, place_inverse, is_last ? &inverse : nullptr);
    bit_matrix const next = is_last ? map.a : layout_matrix(layouts[i + 1], load, size);
    affine_map const step{next * place_inverse, is_last ? map.c : 0};
    passes_.emplace_back(step, image(place, load), b);
    place = next;
    place_inverse = is_last ? inverse : next.inverse();
  }
}

}  // namespace outsize::numeric
