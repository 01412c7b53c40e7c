// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Neighbouring lines that are equal, counted, dropped or set apart, as uniq(1) does. For equal
// lines that are not neighbours see sort_lines with `unique`, and count_lines. One thread. Layer:
// text.

#include <cstdint>
#include <limits>
#include <string>

#include <outsize/algorithm/sort_options.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/record/record_reader.hpp>

namespace outsize::text {

/// What a pass of uniq compares and what it writes. Without any of it: one line of each group.
struct uniq_options {
  static constexpr std::uint64_t to_end_of_line = std::numeric_limits<std::uint64_t>::max();

  /// Where empty lines stand: between groups, before each, behind each, or before and behind.
  enum class mark : std::uint8_t { none, separate, prepend, append, both };

  bool count = false;          ///< -c: the size of the group in front of each line.
  bool only_repeated = false;  ///< -d: one line of each group of several.
  bool all_repeated = false;   ///< -D: all lines of groups of several; goes with `marks`, up to
                               ///< `prepend`.
  bool only_single = false;    ///< -u: no line of a group of several; with -D not its last.
  bool all_lines = false;      ///< --group: all lines of all groups; goes with `marks` alone.
  mark marks = mark::none;

  std::uint64_t skip_fields = 0;  ///< -f: of blanks, then others, or of CSV; not compared.
  std::uint64_t skip_bytes = 0;   ///< -s: behind these fields.
  std::uint64_t most_bytes = to_end_of_line;  ///< -w: compared, behind what is skipped.
  bool fold = false;                          ///< -i: lower case is as upper case.
  line_format lines = {};                     ///< Its delimiter is also for `marks`.
};

/// Writes lines of `input` to `output`, by groups of neighbours that are equal: in the bytes of
/// what is compared, for CSV too. A header comes first and belongs to no group; with `count` it has
/// "count" in front, and of CSV that and the counts are a first field.
///
/// I/Os:    Reads the input and writes the output once.
/// Memory:  options.memory_bytes or all that the storage has free, at least min_sort_memory_bytes;
///          of a line a fifth. Only buffers and one or two lines are used.
/// Threads: blocks the caller.
/// Errors:  std::invalid_argument for options that exclude each other; io_error, budget_error (a
///          line too long: both sizes), format_error (no CSV: line and column). The output is as it
///          was before then.
/// Source:  POSIX, uniq utility; GNU coreutils 9.1.
/// Checked: outsize/text/line_uniq_test.cpp, tests/tool/uniq_test.py.
sort_report uniq_lines(storage& store, std::string const& input, std::string const& output,
                       uniq_options const& groups = {}, sort_options const& options = {});

}  // namespace outsize::text
