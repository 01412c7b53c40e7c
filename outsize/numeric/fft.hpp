// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The Fourier transform of a file of complex numbers that may be much larger than memory.
//
// Each pass of the plan (fft_plan.hpp) is a network:
//
//   read chunks ──▶ transform (waits for a load of them) ──▶ [transpose] ──▶ write chunks
//
// The first pass reads the input, the last one writes the output, in natural order both; between
// them there is one temporary file. So the output may be the input, and a failure leaves nothing
// behind. The bytes of the output do not depend on threads, nor on buffers; on the memory they do,
// by rounding, as it decides on the plan. Layer: numeric. Thread rule: one call uses the storage's
// threads; several may run at once.

#include <complex>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include <outsize/block/storage.hpp>
#include <outsize/io/file.hpp>
#include <outsize/numeric/passes.hpp>
#include <outsize/pipeline/network_report.hpp>

namespace outsize::numeric {

struct fft_options {
  bool inverse = false;  ///< x_j = 1/N Σ X_k e^(2πi jk/N), the exact opposite of the transform.

  // Options that change the performance.
  std::uint64_t memory_bytes = 0;  ///< Of the storage's budget; 0: all that is free.
  /// Requests are at least that long where the memory allows it; a power of two; 0: 8 KiB.
  std::size_t block_bytes = 0;

  bool trace = false;         ///< Notes each step in the reports.
  std::stop_token stop = {};  ///< Triggered: the transform ends with `cancelled`.
  pass_listener on_progress = {};
};

/// What a pass did.
struct fft_pass_report {
  std::uint64_t transform_records = 0;  ///< N_i
  std::uint64_t load_bytes = 0;         ///< Transformed at once, in memory.
  std::size_t read_request_bytes = 0;   ///< The shortest.
  std::size_t write_request_bytes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  pipeline::network_report network;
};

struct fft_report {
  std::uint64_t records = 0;
  std::size_t block_bytes = 0;  ///< The shortest request of all passes.
  std::uint64_t memory_bytes = 0;
  std::uint64_t peak_disk_bytes = 0;  ///< Of temporary files.
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  double seconds = 0;
  std::vector<fft_pass_report> passes;
};

/// Writes the transform of the complex doubles (16 bytes, native byte order) of the file `in`, in
/// natural order, to the file `out`: X_k = Σ x_j e^(-2πi jk/N).
///
/// I/Os:    2 (N/B) · passes, passes = ⌈lg N / lg(M/B)⌉, or 1 if N fits in memory; M is about
///          half of the memory.
/// CPU:     O(N lg N), by the storage's threads; one of them if N fits in memory.
/// Memory:  options.memory_bytes.
/// Disk:    N for the output, and N for a temporary file if there is more than one pass, in the
///          storage's first directory.
/// Errors:  Before anything runs: std::invalid_argument, naming file and number, if it does not
///          hold a power of two of numbers; budget_error; io_error if a file cannot be opened;
///          out_of_space. Later: io_error, cancelled. The input is intact then, and what had the
///          output's name as well.
/// Source:  Cormen, Nicol: Performing out-of-core FFTs on parallel disk systems, Parallel Computing
///          24(1), 1998; see fft_plan.hpp. The transforms in memory are FFTW's.
/// Checked: fft_test.cpp, moves_as_many_bytes_as_the_passes_need
fft_report fft(storage& store, std::string const& in, std::string const& out,
               fft_options const& options = {});

struct fft_loads;

namespace detail {

/// The files of a transform; `scratch` is none if one pass is enough.
struct fft_files {
  io::file& in;
  io::file* scratch;
  io::file& out;
};

/// The passes alone, on files of any kind that are large enough and whose alignment the division
/// suits; adds to the report. What fft() does, and tests with files that fail.
void run_fft(storage& store, fft_loads const& loads, fft_files const& files,
             fft_options const& options, fft_report& report);

}  // namespace detail

}  // namespace outsize::numeric
