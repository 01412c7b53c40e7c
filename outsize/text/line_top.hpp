// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The first lines of an order, as `sort | head` would give them. By the storage's threads; the
// caller waits. Layer: text. The work is outsize/algorithm/top_sorter.hpp.

#include <cstdint>

#include <outsize/algorithm/detail/file_sort.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/text/line_order.hpp>

namespace outsize::text {

/// How many of which lines.
struct top_lines_options {
  std::uint64_t count = 10;
  line_format lines = {};  ///< A header is written besides, and not counted.
};

/// Writes the first lines of all inputs, in the order; with options.unique of those that sort_lines
/// would write. Lines that compare equal stay in input order.
///
/// I/Os:    Reads the inputs once. As long as the lines to be written fit in a sixteenth of the
///          memory there are no others but theirs; else lines go to disk as a sort's, but for those
///          that are surely behind, and the output ends when it is complete.
/// CPU:     A comparison for each line, and a sort of those that were among the first when they
///          came.
/// Memory:  options.memory_bytes or all that the storage has free, at least min_sort_memory_bytes;
///          a line may have a fifth of it, or about 1/24 once lines spill.
/// Disk:    As much as the inputs if too many lines are asked for, gone at the end.
/// Threads: the storage's; blocks the caller.
/// Errors:  as sort_lines.
/// Checked: outsize/text/line_top_test.cpp, tests/tool/top_test.py.
sort_report top_lines(storage& store, sort_paths const& paths, line_order const& order,
                      top_lines_options const& wanted = {}, sort_options const& options = {});

}  // namespace outsize::text
