// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How often each line, or each key, occurs: what `sort | uniq -c` tells, without a sort of every
// line. By the storage's threads; the caller waits. Layer: text.
//
//   lines ─► keys ─► tally in memory ──full, or at end──► sorter ─► sums of equal keys ─► output
//                                                                             │ by_count
//                                                                             └─► sorter ─► output

#include <cstdint>

#include <outsize/algorithm/detail/file_sort.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/record/record_reader.hpp>
#include <outsize/text/line_order.hpp>

namespace outsize::text {

/// How groups are written.
struct count_lines_options {
  bool by_count = false;   ///< The largest group first; groups of one size in the order of keys.
  line_format lines = {};  ///< `csv` is to be the order's.
};

/// Counts lines whose keys (without keys: that themselves) compare equal, and writes for each group
/// its size, as `uniq -c` does, and its key as it was in the first line of the group. Several keys
/// are written with a separator between them, a space if there is none. Of CSV the groups are
/// records, too: the size, and the values of the keys, or without keys the record as it came. A
/// header comes first, with "count" in front and of its fields those of the keys.
///
/// @param order  `stable` and `unique` have no meaning here.
///
/// I/Os:    Reads the inputs and writes the output once. G different keys go to disk only if they
///          do not fit in memory, and then at most once for each time that the tally, a quarter of
///          the memory, is full; with `by_count` all G once more.
/// CPU:     A hash of each key; O(G log G) comparisons if the keys fit in memory.
/// Memory:  options.memory_bytes or all that the storage has free, at least min_sort_memory_bytes;
///          a line may have a fifth of it, a key about 1/32.
/// Disk:    At most as much as the keys and 12 bytes for each, gone at the end.
/// Threads: the storage's; blocks the caller.
/// Errors:  as sort_lines.
/// Checked: outsize/text/line_count_test.cpp, tests/tool/count_test.py.
sort_report count_lines(storage& store, sort_paths const& paths, line_order_options const& order,
                        count_lines_options const& groups = {}, sort_options const& options = {});

}  // namespace outsize::text
