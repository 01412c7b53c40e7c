// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sorting files of binary records: numbers, or records of one length with keys inside. By the
// storage's threads; the caller waits. Layer: algorithm. The engine behind it:
// algorithm/detail/sort/engine.hpp.

#include <outsize/algorithm/detail/file_sort.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/record/record_format.hpp>

namespace outsize {

/// Sorts the records of all inputs into the output; records with equal keys stay in input order.
///
/// I/Os:    Reads the inputs and writes the output once; runs on disk as `sorter` says.
/// Memory:  options.memory_bytes or what others can do without, at least min_sort_memory_bytes.
/// Disk:    As much as the inputs if they do not fit in memory, gone at the end. Where the output
///          is on the same device and runs can be written over, two blocks for each of them, and
///          what blocks have of space that no record fits in
///          (docs/decisions/0051-runs-in-the-room-of-their-output.md).
/// Threads: the storage's; blocks the caller.
/// Errors:  io_error, out_of_space, budget_error, format_error (a record cut short: file, size,
///          length). The inputs are intact then, and the output is as it was before.
/// Source:  STXXL 2008, section 6.
/// Checked: outsize/algorithm/record_sort_test.cpp, tests/tool/.
sort_report sort_records(storage& store, sort_paths const& paths, record_order const& order,
                         sort_options const& options = {});

/// What sort_records would do, without doing it. @throws as sort_records before its first I/O.
sort_plan plan_record_sort(storage& store, sort_paths const& paths, record_order const& order,
                           sort_options const& options = {});

/// Merges inputs that are each sorted. Inputs with equal records: those of the first come first.
/// I/Os:    Reads the inputs and writes the output once.
/// Threads: the storage's; but one merges other records than numbers, or than those of 8, 12, 16,
///          24 or 32 bytes with one key of at most eight.
/// Errors:  as sort_records; format_error naming file and record if an input of those that all
///          threads merge is not sorted. Of others that is not noticed: the output is not sorted.
sort_report merge_records(storage& store, sort_paths const& paths, record_order const& order,
                          sort_options const& options = {});

/// What merge_records would do, without doing it. @throws as merge_records before its first I/O.
sort_plan plan_record_merge(storage& store, sort_paths const& paths, record_order const& order,
                            sort_options const& options = {});

}  // namespace outsize
