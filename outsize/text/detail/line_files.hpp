// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What programs over lines share: lines of several inputs one after the other, text out, and the
// division of memory between these and the work itself.
//
//   memory:  | read-ahead of each open input | window | window | work: sorters, tables, lines |
//
// One thread at a time. Layer: text.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/algorithm/detail/file_sort.hpp>
#include <outsize/algorithm/detail/record_output.hpp>
#include <outsize/algorithm/sort_options.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/input_stream.hpp>
#include <outsize/io/output_stream.hpp>
#include <outsize/record/record_reader.hpp>

namespace outsize::detail {

/// See the top of this file.
struct line_division {
  io::input_stream_options reading;                  ///< Of each input.
  std::size_t window_bytes = 0;                      ///< Of each of the two.
  io::compression compress = io::compression::none;  ///< Of the output.
  io::input_watch inputs = {};                       ///< Of those that the output replaces.
  std::uint64_t stream_bytes = 0;                    ///< Read-ahead and windows together.
  std::uint64_t work_bytes = 0;                      ///< What is left.
  std::uint64_t memory_bytes = 0;                    ///< All of it.
  std::stop_token stop = {};                         ///< Triggered: inputs end with `cancelled`.
};

/// Divides options.memory_bytes, or all that the storage has free, if so many inputs are open at
/// once; watches them from now on, if the output may replace one.
/// @throws budget_error naming have and need if it is too little.
line_division divide_for_lines(storage& store, sort_paths const& paths, sort_options const& options,
                               std::size_t open_inputs = 1);

/// Where lines come from.
struct line_source {
  std::vector<std::string> paths;  ///< "-": standard input
  line_format lines = {};
};

/// Lines of one input after the other; each ends with the delimiter, the last of a file may do
/// without.
class line_input {
 public:
  /// Takes the read-ahead from `memory`; it and `store` must outlive the input. Opens the first
  /// file. @throws io_error.
  line_input(storage& store, grant& memory, line_division const& division, line_source source);

  /// The next line, valid until the next call; nothing at the end.
  /// @throws io_error; cancelled; budget_error naming both sizes for a line longer than a fifth of
  /// the memory; format_error as record_reader, and for headers that differ.
  std::optional<std::string_view> next() {
    for (;;) {
      if (auto const line = reader_->next()) {
        if (++line_number_ % lines_between_looks == 0) give_up_if_stopped();
        line_bytes_ += line->size() + 1;
        return line;
      }
      if (opened_ == source_.paths.size()) return std::nullopt;
      open_next();
    }
  }

  /// The file of the last line.
  std::string const& path() const noexcept { return source_.paths[opened_ - 1]; }
  /// The number of the `last` line in it, from 1; of a record of CSV that of its first line.
  std::uint64_t number_of(std::string_view last) const noexcept {
    return source_.lines.csv ? reader_->line_of(last) : line_number_;
  }
  /// What the inputs so far begin with, and are no lines: a byte order mark, and the first line, if
  /// they have headers, with its end.
  std::string header() const { return header_.bytes(); }
  /// The mark alone; empty if there is none.
  std::string mark() const { return header_.mark(); }
  /// What ends the lines of the inputs so far: the delimiter, or CR of CSV that has it so.
  char end_of_lines() const noexcept { return header_.end_of_lines(); }
  /// The same; nothing if none has an end.
  std::optional<char> found_end_of_lines() const noexcept { return header_.found_end_of_lines(); }
  /// The first line alone, without its end; nothing if there is none.
  std::optional<std::string> const& header_line() const noexcept { return header_.line(); }
  /// Of all lines so far, with a delimiter for each.
  std::uint64_t line_bytes() const noexcept { return line_bytes_; }

 private:
  static constexpr std::uint64_t lines_between_looks = 1 << 12;  // at the token

  void open_next();
  void give_up_if_stopped() const;

  storage* store_;
  grant* memory_;
  io::input_stream_options reading_;
  std::uint64_t memory_bytes_;
  std::stop_token stop_;
  line_source source_;
  std::size_t opened_ = 0;
  std::unique_ptr<io::input_stream> stream_;
  std::optional<record_reader> reader_;
  input_header header_;
  std::uint64_t line_number_ = 0;
  std::uint64_t line_bytes_ = 0;
};

/// Text that appears under the output's name when finish() has returned.
class line_output {
 public:
  /// Takes its windows from `memory`. @throws io_error if `path` ("-": standard output) can be
  /// neither written nor made.
  line_output(storage& store, grant& memory, line_division const& division,
              std::string const& path);

  /// Adds bytes as they are. @throws io_error.
  void put(std::string_view text) { windows_.append(text); }
  void put(char byte) { windows_.append({&byte, 1}); }
  /// Adds a line and what ends it. @throws io_error.
  void put_line(std::string_view line, char delimiter) {
    put(line);
    put(delimiter);
  }

  /// Writes what is left and makes the output appear. @throws io_error.
  void finish() { windows_.finish(); }

 private:
  std::unique_ptr<io::output_stream> stream_;
  record_output windows_;
};

/// Lines with numbers in front of them, as `uniq -c` writes them, or of CSV as their first field.
class counted_lines {
 public:
  counted_lines(line_output& out, line_format const& lines);

  /// @throws io_error.
  void put(std::uint64_t count, std::string_view line);
  /// The line of names; the numbers are called "count".
  void put_header(std::string_view line);
  /// Ends all that come with a CR, if they are of CSV: that of the record is left out of them.
  void add_cr() noexcept { adds_cr_ = csv_.has_value(); }
  /// Ends all that come with this byte instead of the delimiter.
  void end_lines_with(char end) noexcept { delimiter_ = end; }

 private:
  void end_line(std::string_view line);

  line_output& out_;
  std::optional<csv_format> csv_;
  char delimiter_;
  bool adds_cr_ = false;
};

}  // namespace outsize::detail
