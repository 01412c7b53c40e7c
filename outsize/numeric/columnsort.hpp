// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Out-of-core columnsort: sorts a file of u64 in three passes whose pattern of I/O does not depend
// on the keys.
//
// outsize::sort moves less (four times the file, not six) and has no limit on its size; columnsort
// is for those who need the same I/O whatever the data, and shows buffer pipelines at work: each
// pass is a line of read, sort, (deal,) write, as in the paper's Figure 1. Layer: numeric.

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include <outsize/block/storage.hpp>
#include <outsize/numeric/passes.hpp>
#include <outsize/pipeline/network_report.hpp>

namespace outsize::numeric {

struct columnsort_options {
  std::uint64_t memory_bytes = 0;    ///< 0: all that the storage has free.
  std::uint64_t column_records = 0;  ///< r; 0: as memory allows, in whole blocks.
  bool trace = false;                ///< Notes each step in the reports.
  std::stop_token stop = {};         ///< Triggered: the sort ends with `cancelled`.
  pass_listener on_progress = {};
};

struct columnsort_report {
  std::uint64_t records = 0;
  std::uint64_t column_records = 0;  ///< r
  std::uint64_t column_count = 0;    ///< s
  std::uint64_t passes = 0;          ///< 3, or 1 if all fits in one column.
  double seconds = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t memory_bytes = 0;
  std::vector<pipeline::network_report> networks = {};  ///< One for each pass.
};

/// Sorts the u64 of the file `in` (native byte order) in ascending order into `out`, which appears
/// when it is complete and may be the same file.
///
/// I/Os:    3 N / B reads and as many writes; N / B each if N fits in one column. With padding, in
///          which all requests are of whole blocks: mostly 1 %, an eighth at most with 2 MiB of
///          memory and more. Columns of a length that was asked for may need unaligned requests,
///          through the page cache.
/// CPU:     3 N lg r comparisons.
/// Memory:  options.memory_bytes: eight columns.
/// Disk:    the file once more beside the output, in an unnamed file in the storage's first
///          directory.
/// Threads: the storage's; blocks the caller.
/// Errors:  std::invalid_argument if the file's size is no multiple of 8, or if r < 2 (s - 1)²,
///          naming the numbers; budget_error if the memory holds no columns that large; both before
///          anything runs. io_error, out_of_space, cancelled: no output has appeared then.
/// Source:  Leighton: Tight bounds on the complexity of parallel sorting, 1985; Cormen, Davidson:
///          FG, 2004, section 1.
/// Checked: columnsort_test.cpp, moves_every_byte_three_times_each_way,
///          move_whole_blocks_whatever_the_memory
columnsort_report columnsort(storage& store, std::string const& in, std::string const& out,
                             columnsort_options const& options = {});

}  // namespace outsize::numeric
