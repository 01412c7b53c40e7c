// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Lines of two files that have the same join field, side by side, as join(1) writes them: a merge
// of two sorted inputs. By the storage's threads; the caller waits. Layer: text.
//
//   first  ──(sorter)──► line ──┐
//                               ├─ the same field? ─► output
//   second ──(sorter)──► group ─┘
//                          └─ lines of one field: in memory, or on disk if they are too many

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <outsize/algorithm/sort_options.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/record/csv_scanner.hpp>

namespace outsize::text {

/// The two inputs; one of them may be "-", standard input.
struct join_paths {
  std::string first;
  std::string second;
  std::string output = "-";
};

/// A field of an output line.
struct join_column {
  static constexpr int join_field = 0;

  int file = join_field;  ///< 1 or 2, or the join field of whichever line there is.
  std::size_t field = 0;  ///< From 0; not for the join field.
};

/// What join compares and what it writes.
struct join_options {
  enum class order_check : std::uint8_t {
    with_unpaired,  ///< Once a line had no partner: else what is not sorted did no harm.
    always,
    never
  };

  std::size_t first_field = 0;         ///< -1: of the first file, from 0.
  std::size_t second_field = 0;        ///< -2
  std::optional<char> separator = {};  ///< -t: see split_fields; parts fields of the output, too.
  bool fold = false;                   ///< -i: lower case is as upper case.
  bool paired = true;                  ///< Lines that have a partner; not with -v.
  bool first_unpaired = false;         ///< -a 1, -v 1: lines of the first file that have none.
  bool second_unpaired = false;        ///< -a 2, -v 2
  std::string filler = {};             ///< -e: in place of fields that are missing or empty.
  std::vector<join_column> columns = {};  ///< -o; none: the join field, the other fields.
  /// -o auto: as many fields as the first line of each file has.
  bool columns_of_first_lines = false;
  bool header = false;  ///< The first lines are joined whatever they are.
  order_check check = order_check::with_unpaired;
  bool sort = false;  ///< The inputs need not be sorted; lines with equal fields keep their order.
  char delimiter = '\n';
  /// Lines are records of CSV, joined by the values of fields; `separator` and `delimiter` have no
  /// meaning then. Fields are written as they came, in quotes what must be, and the end of a record
  /// is that of the first one of all.
  std::optional<csv_format> csv = {};
};

/// Writes a line for each pair of lines that have the same join field; pairs of equal fields are
/// ordered by their first lines, then by their second ones.
///
/// I/Os:    Reads the inputs and writes the output once. Lines of the second file with one join
///          field that do not fit in a quarter of the memory go to disk, and are read once for each
///          line of the first file that has this field. With `sort`: two sorts as record_sorter's.
/// Memory:  options.memory_bytes or all that the storage has free, at least min_sort_memory_bytes;
///          a line may have a fifth of it, or a sixteenth of its share, 64 MiB at most, where it
///          goes to disk.
/// Disk:    Such lines; with `sort` as much as the inputs. Gone at the end.
/// Threads: the storage's; blocks the caller.
/// Errors:  format_error if an input is not sorted: file, number and line (of CSV the beginning of
///          the record), or is no CSV: file, line and column, or lacks the
///          field: line and fields; io_error, out_of_space, budget_error.
///          The inputs are intact then, and the output is as it was before.
/// Source:  POSIX, join utility; GNU coreutils 9.1.
/// Checked: outsize/text/line_join_test.cpp, tests/tool/join_test.py.
sort_report join_lines(storage& store, join_paths const& paths, join_options const& join = {},
                       sort_options const& options = {});

}  // namespace outsize::text
