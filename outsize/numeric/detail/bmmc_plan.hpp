// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The passes that carry out a BMMC permutation y = A x ⊕ c of N = 2^n records with a memory of M =
// 2^m records and blocks of B = 2^b records, with the least possible number of passes.
//
// One pass can do A if and only if rank γ <= m - b, γ being the rows b … n-1 of the columns 0 … b-1
// of A: a memory load is a coset of a subspace U of dimension m; its source blocks are whole if U
// contains L = span(e_0 … e_{b-1}), its target blocks if U contains A⁻¹L, and L + A⁻¹L has
// dimension b + rank γ. Otherwise L is exchanged for A⁻¹L step by step: with X = L ∩ A⁻¹L, L = X +
// span(u) and A⁻¹L = X + span(w), the layouts V_0 = L … V_k = A⁻¹L exchange at most m - b of the u
// for w at a time. A layout says which records share a block; pass i goes from a matrix P_{i-1}
// with P_{i-1} V_{i-1} = L to P_i with P_i V_i = L, P_0 = I and P_k = A, by loads U_i = V_{i-1} +
// V_i.
//
// What U_i has to spare is spent on longer requests: neighbouring blocks of the source and, in the
// last pass, of the target; the other passes write whole loads in one piece, for their P_i is free.
// No pass works in place: each reads one file and writes another. Records that are striped over
// several disks count as one file, with a block on each disk making up one block here.
//
// Pure and immutable after construction. Layer: numeric. Source: Cormen, Sundquist, Wisniewski:
// Asymptotically tight bounds for performing BMMC permutations on parallel disk systems, SIAM J.
// Comput. 28(1), 1998, for the lower bound; their algorithm needs up to two passes more.

#include <cstdint>
#include <span>
#include <vector>

#include <outsize/numeric/bit_matrix.hpp>
#include <outsize/numeric/detail/bit_subspace.hpp>
#include <outsize/numeric/detail/tiled_permutation.hpp>

namespace outsize::numeric {

/// What a plan may use, as binary logarithms of numbers of records.
struct bmmc_memory {
  unsigned memory_bits = 0;  ///< m: the records of one load; source and target side are two loads.
  unsigned block_bits = 0;   ///< b: the records of a block, the least unit of reading and writing.
};

/// One pass: every record is read once and written once, load by load, in whole blocks.
///
/// The blocks of a load are numbered 0 … blocks_per_load() - 1 on either side, ascending with their
/// place in the file; slot s of a load's buffer is record s mod B of its block s / B. So a buffer
/// is filled or emptied from front to back with ascending, in part adjacent, places of the file.
class bmmc_pass {
 public:
  /// @param map   Where the record at each place of the source file goes in the target file.
  /// @param load  U: the subspace of source places of which the loads are cosets. It contains the
  ///              places of block 0 and those that `map` moves linearly to block 0.
  bmmc_pass(affine_map map, bit_subspace load, unsigned block_bits);

  affine_map const& map() const noexcept { return map_; }
  /// The subspaces of which a load is a coset, in places of the source and of the target.
  bit_subspace const& source_space() const noexcept { return source_space_; }
  bit_subspace const& target_space() const noexcept { return target_space_; }

  std::uint64_t load_count() const noexcept;
  std::uint64_t records_per_load() const noexcept;
  std::uint64_t records_per_block() const noexcept { return std::uint64_t{1} << block_bits_; }
  std::uint64_t blocks_per_load() const noexcept { return records_per_load() >> block_bits_; }
  /// A load's blocks come in runs of this many adjacent blocks, a power of two: what one request
  /// may read or write.
  std::uint64_t source_run_blocks() const noexcept { return run_blocks(source_space_); }
  std::uint64_t target_run_blocks() const noexcept { return run_blocks(target_space_); }

  /// The numbers of the blocks of a load, ascending.
  /// CPU:     O(blocks per load).
  std::vector<std::uint64_t> source_blocks(std::uint64_t load) const;
  std::vector<std::uint64_t> target_blocks(std::uint64_t load) const;

  /// The permutation inside a load: source slot s goes to target slot
  /// slot_matrix() s ⊕ slot_complement(load). The matrix is that of all loads.
  bit_matrix const& slot_matrix() const noexcept { return slot_matrix_; }
  std::uint64_t slot_complement(std::uint64_t load) const noexcept;

 private:
  std::uint64_t run_blocks(bit_subspace const& space) const noexcept;
  std::uint64_t target_coset(std::uint64_t load) const noexcept;

  affine_map map_;
  unsigned block_bits_;
  bit_subspace source_space_;
  bit_subspace target_space_;
  bit_matrix slot_matrix_;
};

/// Moves the records of one load, or of a range of its tiles, from the buffer read to the buffer to
/// write.
///
/// @param tiles  Made from pass.slot_matrix() and sizeof(Record), once for the pass.
/// Threads: different ranges of tiles of one load may be moved at once.
template <class Record>
void permute_load(bmmc_pass const& pass, tiled_permutation const& tiles, std::uint64_t load,
                  std::span<Record const> source, std::span<Record> target,
                  tile_range range) noexcept {
  tiles.apply(pass.slot_complement(load), source, target, range);
}

/// The same for all tiles.
template <class Record>
void permute_load(bmmc_pass const& pass, tiled_permutation const& tiles, std::uint64_t load,
                  std::span<Record const> source, std::span<Record> target) noexcept {
  permute_load(pass, tiles, load, source, target, tiles.all_tiles());
}

/// The passes of a BMMC permutation.
///
/// I/Os:    2 (N/B) · passes() blocks, passes().size() = max(1, ⌈rank γ / (m - b)⌉): no algorithm
///          of whole-block loads needs fewer passes.
/// CPU:     O(n³) to plan.
/// Errors:  std::invalid_argument if the matrix is singular, or if a load is one block only
///          (m = b) while rank γ > 0.
/// Checked: bmmc_plan_test.cpp, needs_the_number_of_passes_that_theory_predicts
class bmmc_plan {
 public:
  /// A memory or block larger than the whole file counts as the whole file, a block larger than
  /// the memory as the memory.
  bmmc_plan(affine_map const& map, bmmc_memory memory);

  /// In the order in which they are carried out, at least one.
  std::span<bmmc_pass const> passes() const noexcept { return passes_; }
  /// rank γ: how many dimensions of a target block come from outside a source block.
  unsigned gamma_rank() const noexcept { return gamma_rank_; }
  /// n, and m and b as used.
  unsigned record_bits() const noexcept { return map_.a.size(); }
  unsigned memory_bits() const noexcept { return memory_.memory_bits; }
  unsigned block_bits() const noexcept { return memory_.block_bits; }

 private:
  affine_map map_;
  bmmc_memory memory_;
  unsigned gamma_rank_ = 0;
  std::vector<bmmc_pass> passes_;
};

}  // namespace outsize::numeric
