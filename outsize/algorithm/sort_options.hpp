// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What a sort can be told, and what it tells. Layer: algorithm.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include <outsize/io/compression.hpp>
#include <outsize/io/input_form.hpp>
#include <outsize/pipeline/network_report.hpp>

namespace outsize {

/// How far a sort has come. Bytes are of items; `total_bytes` is 0 while the size of the input is
/// unknown.
struct sort_progress {
  enum class phase : std::uint8_t { forming_runs, merging_runs, writing_output, done };
  phase now = phase::forming_runs;
  std::uint64_t done_bytes = 0;   ///< Moved so far, over all phases.
  std::uint64_t total_bytes = 0;  ///< To be moved over all phases.
};

/// Whether runs on disk are encoded (key_codec.hpp, byte_codec.hpp).
enum class run_codec : std::uint8_t {
  automatic,  ///< Each run if it pays at the speed of disks and processors, measured on the way.
  none,
  always,  ///< But for blocks of very few units of the disk, of items that are coded as bytes.
};

/// Options that change the behaviour.
struct sort_options {
  /// Of items that compare equal only the first is kept, as early as when runs are formed.
  bool unique = false;
  /// Of files: inputs that begin as compressed files do are decompressed.
  bool decompress = false;
  /// Of files of text: what begins with a byte order mark of UTF-16 becomes UTF-8.
  bool transcode = false;
  io::compression compress = io::compression::none;  ///< Of files: the output.

  // Options that change the performance.
  /// Of the storage's budget, to be kept until the end; 0: what others can do without.
  std::uint64_t memory_bytes = 0;
  std::size_t block_bytes = 0;  ///< Of runs on disk; 0: chosen from memory and input.
  std::size_t most_fan_in = 0;  ///< Runs or sorted inputs merged at once, 2 or more; 0: as many as
                                ///< the memory allows.
  std::optional<std::uint64_t> input_bytes =
      {};  ///< What is coming, if known; a wrong number costs time only.
  run_codec codec = run_codec::automatic;  ///< Of runs on disk; the output is the same with any.
  /// Keeps runs on disk after they have been read, for sorter::rewind(), and so that a sorter can
  /// give memory back while it is read; else their space is freed as they are consumed. By default
  /// a sorter keeps them unless memory_bytes is named; a sort that is one call does not.
  std::optional<bool> rewindable = {};
  bool is_rewindable() const noexcept { return rewindable.value_or(false); }

  bool trace = false;  ///< Notes each step in the reports of the networks.

  std::stop_token stop = {};  ///< Triggered: the sort ends with `cancelled`.
  /// Called for every chunk that is full and every window of output, by one thread at a time,
  /// perhaps another than the caller's.
  std::function<void(sort_progress const&)> on_progress = {};

  io::input_decoding decoding() const noexcept { return {decompress, transcode}; }
};

/// What a sort has done.
struct sort_report {
  std::uint64_t items = 0;         ///< That came in.
  std::uint64_t input_bytes = 0;   ///< Of those items.
  std::uint64_t output_items = 0;  ///< Fewer than `items` with `unique`.
  std::uint64_t run_items = 0;  ///< Written to disk in runs; with `unique` those left of a chunk.
  std::uint64_t runs = 0;       ///< Written to disk; 0: all fitted in memory, or was in order.
  std::uint64_t encoded_runs = 0;    ///< Of the runs formed in memory.
  std::uint64_t run_disk_bytes = 0;  ///< Of those runs, on disk.
  bool output_over_runs = false;     ///< The output has been written over them.
  std::uint64_t passes = 0;     ///< The most merges that any item went through; 0: none from disk.
  std::uint64_t merges = 0;     ///< Intermediate ones, each of up to fan-in runs.
  std::size_t block_bytes = 0;  ///< Of runs, or of the streams that were merged or copied.
  std::size_t fan_in = 0;       ///< Runs that could be merged at once.
  std::uint64_t memory_bytes = 0;       ///< That it was allowed, streams included.
  std::uint64_t peak_memory_bytes = 0;  ///< The most that it used at once, streams aside.
  /// Most space that the storage's disks have held at once, for whomever, since it was made: that
  /// of the sort, if nobody else uses the storage. And what the file of the output held besides,
  /// where runs lay there.
  std::uint64_t peak_disk_bytes = 0;
  /// What ran: run formation, and the last merge with those before it; or the copy of what was in
  /// order; or nothing, if sorted files were merged.
  std::vector<pipeline::network_report> networks = {};

  /// Adds what another sort for the same job did, its runs, merges and networks; what came in and
  /// went out of the job stays.
  void add_work_of(sort_report const& other) {
    run_items += other.run_items;
    runs += other.runs;
    encoded_runs += other.encoded_runs;
    run_disk_bytes += other.run_disk_bytes;
    passes = std::max(passes, other.passes);
    merges += other.merges;
    block_bytes = std::max(block_bytes, other.block_bytes);
    fan_in = std::max(fan_in, other.fan_in);
    peak_disk_bytes = std::max(peak_disk_bytes, other.peak_disk_bytes);
    networks.insert(networks.end(), other.networks.begin(), other.networks.end());
  }
};

namespace detail {
/// That of a sort without items, before it has begun.
inline sort_report const& report_of_nothing() noexcept {
  static sort_report const& nothing = *new sort_report;  // never destroyed
  return nothing;
}
}  // namespace detail

}  // namespace outsize
