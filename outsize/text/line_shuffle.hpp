// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Lines in random order, which depends on the salt and on the number of each line alone: line i
// stands where its random number salt.number(i) stands among those of all lines. By the storage's
// threads; the caller waits. Layer: text.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <outsize/algorithm/sort_options.hpp>
#include <outsize/algorithm/top_sorter.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/record/record_reader.hpp>
#include <outsize/text/random_salt.hpp>

namespace outsize::text {

/// The lines of files, one after the other; "-": standard input.
struct lines_of_files {
  std::vector<std::string> paths;
};

/// Lines in memory.
struct given_lines {
  std::vector<std::string> lines;
};

/// The numbers first, first + 1, …, `count` of them, in decimal.
struct number_range {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

using shuffle_source = std::variant<lines_of_files, given_lines, number_range>;

struct shuffle_lines_options {
  static constexpr std::uint64_t all = top_sorter<>::all;

  std::uint64_t count = all;  ///< The most lines to be written.
  /// Draws each line from all of them again, `count` times; without a count, forever.
  bool repeat = false;
  random_salt salt = {};
  line_format lines = {};  ///< Of lines of files a header comes first, and is none of `count`.
};

/// Writes the lines in random order, or the first `count` of that. Equal salts give the same order
/// for equally many lines, whatever the memory and threads.
///
/// I/Os:    Reads the input and writes the output once; lines that do not fit in memory go to disk
///          as a record_sorter's, with 12 bytes more for each. Few lines of many, if they fit in
///          1/16 of the memory, need no disk, nor do the numbers of a range of 2^20 or more.
///          `repeat` needs none either.
/// Memory:  options.memory_bytes or all that the storage has free, at least min_sort_memory_bytes;
///          a line may have about 1/24 of it. With `repeat` all lines must fit.
/// Disk:    As much as the lines and 12 bytes for each if they do not fit in memory, gone at the
///          end.
/// Threads: the storage's; blocks the caller.
/// Errors:  as sort_lines; budget_error also for lines that are to be repeated and do not fit;
///          format_error if there are none of these.
/// Checked: outsize/text/line_shuffle_test.cpp, tests/tool/shuffle_test.py.
sort_report shuffle_lines(storage& store, shuffle_source const& lines, std::string const& output,
                          shuffle_lines_options const& order = {},
                          sort_options const& options = {});

}  // namespace outsize::text
