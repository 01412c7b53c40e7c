// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// One pass of a BMMC permutation as a network: read the blocks of a load, permute within the load,
// write the blocks of a load. Layer: numeric. Uses the storage's memory and threads.

#include <cstddef>
#include <stop_token>

#include <outsize/block/storage.hpp>
#include <outsize/io/file.hpp>
#include <outsize/numeric/detail/bmmc_plan.hpp>
#include <outsize/pipeline/network.hpp>

namespace outsize::numeric {

/// Whether records of that size can be permuted: 1, 2, 4, 8, 16, 32 or 64 bytes.
bool is_bmmc_record_size(std::size_t record_bytes) noexcept;

/// Where a pass reads and where it writes: not the same file.
struct bmmc_pass_files {
  io::file& from;
  io::file& to;
};

struct bmmc_pass_options {
  std::size_t record_bytes = 8;
  std::size_t buffer_count = 4;  ///< Buffers of a load: at least two, one of them auxiliary.
  pipeline::network_options network = {};
  std::stop_token stop = {};
};

/// Moves every record from its place in the one file to its place in the other.
///
/// I/Os:    Reads and writes every block once; neighbouring ones by one request.
/// Memory:  buffer_count loads.
/// Errors:  io_error, cancelled, budget_error. The target is undefined then.
/// Checked: bmmc_pass_run_test.cpp
pipeline::network_report run_bmmc_pass(storage& store, bmmc_pass const& pass, bmmc_pass_files files,
                                       bmmc_pass_options const& options);

}  // namespace outsize::numeric
