// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sorting and merging files of text lines in the order of sort(1). By the storage's threads; the
// caller waits. Layer: text. The engine behind it: outsize/algorithm/detail/sort/engine.hpp.

#include <outsize/algorithm/detail/file_sort.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/text/line_order.hpp>

namespace outsize::text {

/// Sorts the lines of all inputs, which end with the delimiter of `format` (the last one may do
/// without), into the output, where every line ends with it. Lines that compare equal stay in input
/// order. Lines of CSV are whole records. A header, which must be the same in all inputs, comes
/// first, and in front of it the byte order mark of CSV, if the first input has one; neither is one
/// of the items.
///
/// I/Os:    Reads the inputs and writes the output once; runs on disk as `sorter` says, with 4
///          bytes more for each line.
/// Memory:  options.memory_bytes or all that the storage has free, at least min_sort_memory_bytes;
///          a line may have a sixth of it if the input has less than a third, and in any case about
///          1/16.
/// Disk:    As much as the inputs and the 4 bytes if they do not fit in memory, gone at the end.
/// Threads: the storage's; blocks the caller.
/// Errors:  io_error, out_of_space, budget_error (a line too long for the memory, or of more than 2
///          GiB: both sizes), format_error (compressed data that is damaged or cut short, malformed
///          CSV or a record without one of the keys, headers that differ: where). The inputs are
///          intact then, and the output is as it was before.
/// Source:  STXXL 2008, section 6; POSIX sort utility.
/// Checked: outsize/text/line_sort_test.cpp, tests/tool/.
sort_report sort_lines(storage& store, sort_paths const& paths, line_order const& order,
                       line_format const& format = {}, sort_options const& options = {});

/// What sort_lines would do, without doing it. @throws as sort_lines before its first I/O.
sort_plan plan_line_sort(storage& store, sort_paths const& paths, line_order const& order,
                         sort_options const& options = {});

/// Merges inputs that are each sorted. Lines that compare equal: those of the first input come
/// first. I/Os: Reads the inputs and writes the output once. Errors: as sort_lines.
sort_report merge_lines(storage& store, sort_paths const& paths, line_order const& order,
                        line_format const& format = {}, sort_options const& options = {});

/// What merge_lines would do, without doing it. @throws as merge_lines before its first I/O.
sort_plan plan_line_merge(storage& store, sort_paths const& paths, line_order const& order,
                          sort_options const& options = {});

}  // namespace outsize::text
