// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The BMMC permutation of a file: record x goes to place A x ⊕ c, A being a nonsingular matrix over
// GF(2). Bit reversal, transposition and Gray codes are such permutations (bit_matrix.hpp).
//
// Each pass of the plan (bmmc_plan.hpp) is a network of three stages; its loads are the buffers:
//
//   read the blocks of a load ──▶ permute within the load ──▶ write the blocks of a load
//
// The first pass reads the input, the last one writes the output, and those between them go back
// and forth between one temporary file and the output, which has no name before it is complete. So
// the output may be the input, and a failure leaves nothing behind. The bytes of the output depend
// on nothing but input and map. Layer: numeric. Thread rule: one call uses the storage's threads;
// several may run at once.

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include <outsize/block/storage.hpp>
#include <outsize/numeric/bit_matrix.hpp>
#include <outsize/numeric/passes.hpp>
#include <outsize/pipeline/network_report.hpp>

namespace outsize::numeric {

struct permute_options {
  std::size_t record_bytes = 8;  ///< 1, 2, 4, 8, 16, 32 or 64.

  // Options that change the performance.
  std::uint64_t memory_bytes = 0;  ///< Of the storage's budget; 0: all that is free.
  std::size_t block_bytes = 0;     ///< A power of two; 0: chosen by the estimated time.

  bool trace = false;         ///< Notes each step in the reports.
  std::stop_token stop = {};  ///< Triggered: the permutation ends with `cancelled`.
  pass_listener on_progress = {};
};

/// What a permutation has done.
struct permute_report {
  std::uint64_t records = 0;
  std::size_t record_bytes = 0;
  unsigned gamma_rank = 0;  ///< rank γ at this block size, which decides on the passes.
  unsigned passes = 0;
  std::size_t block_bytes = 0;
  /// Neighbouring blocks move by one request; the shortest requests of all passes are that long.
  std::size_t read_request_bytes = 0;
  std::size_t write_request_bytes = 0;
  std::uint64_t load_bytes = 0;  ///< Permuted at once, in memory.
  std::size_t buffer_count = 0;  ///< Of a load each.
  std::uint64_t memory_bytes = 0;
  std::uint64_t peak_disk_bytes = 0;  ///< Of temporary files.
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  double seconds = 0;
  std::vector<pipeline::network_report> networks;  ///< One for each pass.
};

/// The binary logarithm of the number of records in the file: the size of the matrix for permute().
/// @throws io_error if it cannot be opened; std::invalid_argument, naming file and number, if it
/// does not hold a power of two of whole records, or if such records are not supported.
unsigned count_record_bits(storage& store, std::string const& path, std::size_t record_bytes);

/// Writes record x of the file `in` to place map.a x ⊕ map.c of the file `out`, which appears when
/// it is complete and may be the same file.
///
/// I/Os:    2 (N/B) · max(1, ⌈rank γ / lg(M/B)⌉) blocks; N, M and B are the records in all, of a
///          load and of a block.
/// CPU:     About two copies of each record and pass, by the storage's threads.
/// Memory:  Of options.memory_bytes as many loads of 2^m records as fit, two to four.
/// Disk:    N for the output, and N for a temporary file if there is more than one pass, where
///          make_scratch_file() puts it.
/// Errors:  Before anything runs: std::invalid_argument for sizes that are no power of two, a
///          matrix of another size or a singular one, naming file and numbers; budget_error;
///          io_error if a file cannot be opened; out_of_space. Later: io_error, cancelled. The
///          input is intact then, and what had the output's name as well.
/// Source:  Cormen, Sundquist, Wisniewski, SIAM J. Comput. 28(1), 1998; see bmmc_plan.hpp.
/// Checked: bmmc_test.cpp, moves_as_many_bytes_as_the_passes_need
permute_report permute(storage& store, std::string const& in, std::string const& out,
                       affine_map const& map, permute_options const& options = {});

}  // namespace outsize::numeric
