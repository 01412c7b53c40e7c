// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The course of a run of virtual processors: bytes and times of each in each superstep, and a
// timeline.
//
//   rank 0   | superstep 0 | superstep 1        | superstep 2 |
//   rank 1     | superstep 0 | superstep 1   | superstep 2          |
//             computes    ▲ begins a collective operation of all: its superstep ends
//
// A superstep of a processor ends when it begins a collective operation of all processors. So the
// next one holds its wait in that operation and the moves of its context meanwhile. Bytes that it
// sends and receives as parts of the operation belong to the superstep that has ended. Bytes count
// when they are moved: a block of messages for the processor that they go to.
//
// At any time a processor does one of three things. It computes: it has its worker's turn, copies
// of its messages and waits for their blocks included. Else it is moved, while pieces of its
// context go out or come in. Else it waits: for others, for frames, or for its turn.
//
// Values. Layer: bsp.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace outsize::bsp {

/// Bytes and times of a virtual processor in a superstep, or sums of such.
struct superstep_counts {
  std::uint64_t changed_bytes = 0;         ///< d: in its context, different from those on disk.
  std::uint64_t written_bytes = 0;         ///< In its context.
  std::uint64_t used_bytes = 0;            ///< c: in use in pieces that came in from disk.
  std::uint64_t read_bytes = 0;            ///< In its context.
  std::uint64_t sent_bytes = 0;            ///< In messages, once for each receiver.
  std::uint64_t received_bytes = 0;        ///< In messages.
  std::uint64_t lent_bytes = 0;            ///< In messages taken from blocks of their senders.
  std::uint64_t stored_bytes = 0;          ///< In blocks of messages for it that went to disk.
  std::uint64_t stored_written_bytes = 0;  ///< These blocks, with their padding.
  std::uint64_t stored_read_bytes = 0;     ///< Blocks of messages for it, lent ones included.
  std::uint64_t operations = 0;            ///< Collective operations begun, of any group.
  std::int64_t computing_ns = 0;
  std::int64_t moving_ns = 0;
  std::int64_t waiting_ns = 0;

  superstep_counts& operator+=(superstep_counts const& more) noexcept;
  /// The bytes to be moved: changed ones out, used ones in, stored ones out and in, lent ones in.
  /// Differs from moved_bytes() by zeros in use, by padding of blocks, and by blocks of messages
  /// that are freed before they are read, or read more than once.
  std::uint64_t formula_bytes() const noexcept {
    return changed_bytes + used_bytes + 2 * stored_bytes + lent_bytes;
  }
  /// The bytes that were moved.
  std::uint64_t moved_bytes() const noexcept {
    return written_bytes + read_bytes + stored_written_bytes + stored_read_bytes;
  }

  friend bool operator==(superstep_counts const&, superstep_counts const&) = default;
};

/// Shares of time spent by rows of processors, in bins of equal length.
///
///   row 0 (ranks 0 … r-1)    | bin 0 | bin 1 | …
///   row 1 (ranks r … 2r-1)   | bin 0 | bin 1 | …
struct run_timeline {
  std::uint32_t ranks_per_row = 1;
  std::uint32_t rows = 0;
  std::int64_t bin_ns = 0;
  std::vector<float> computing_ns =
      {};  ///< All ranks of a row together: rows times the number of bins.
  std::vector<float> moving_ns = {};

  std::size_t bins() const noexcept { return rows == 0 ? 0 : computing_ns.size() / rows; }
};

/// The course of a run. Neighbouring supersteps are one entry if there are thousands.
struct run_history {
  /// Since the start of the run: the first processor's begin, the last one's end, as far as it is.
  struct span {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
  };

  std::uint64_t supersteps = 0;           ///< Begun by the processor that has come furthest.
  std::uint64_t merged = 1;               ///< Supersteps in an entry.
  std::uint32_t ended = 0;                ///< Processors.
  std::int64_t elapsed_ns = 0;            ///< Since the start of the run.
  std::vector<std::int64_t> end_ns = {};  ///< By rank; elapsed_ns where it has not ended.
  std::vector<std::vector<superstep_counts>> processors = {};  ///< By rank, by entry.
  std::vector<span> spans = {};                                ///< By entry.
  run_timeline timeline = {};

  superstep_counts of_processor(std::size_t rank) const noexcept;
  superstep_counts of_entry(std::size_t entry) const noexcept;
  superstep_counts total() const noexcept;
};

}  // namespace outsize::bsp
