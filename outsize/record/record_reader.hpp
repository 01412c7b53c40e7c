// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Cuts the bytes of an input stream into records: lines, CSV, or stretches of one length.
//
// Most records are handed out where the stream has them; one that straddles two of its views is put
// together in a buffer of its own. One thread at a time. Layer: record.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <outsize/io/input_stream.hpp>
#include <outsize/record/csv_scanner.hpp>

namespace outsize {

/// What lines are.
struct line_format {
  char delimiter = '\n';  ///< Ends a line and is no part of it.
  /// Lines are records of CSV. The delimiter is LF then; each input whose first record ends in CR
  /// alone has CR instead.
  std::optional<csv_format> csv = {};
  std::size_t least_fields = 0;  ///< That a record of CSV must have, if it is not empty.
  bool header = false;           ///< The first line of each input names the columns.

  line_format() = default;
  line_format(char ends) : delimiter(ends) {}
};

/// The records of one input stream, which must outlive it, one after the other.
class record_reader {
 public:
  /// Lines that end with the delimiter (not part of them); the last one may do without. Those of
  /// CSV may hold it inside of quotes; a CR in front of it is part of them, and the last one gets
  /// one if the one before has, and a byte order mark in front of the first is no part of it. If
  /// the first record of CSV ends in CR alone, that ends all, and LF stands in quotes only. One
  /// line may have a fifth of `memory_budget_bytes`.
  static record_reader of_lines(io::input_stream& in, line_format const& lines,
                                std::uint64_t memory_budget_bytes) {
    return of_lines(in, lines, memory_budget_bytes, memory_budget_bytes / 5);
  }
  /// One line may have `longest_bytes`; the budget is for the message about a longer one.
  static record_reader of_lines(io::input_stream& in, line_format const& lines,
                                std::uint64_t memory_budget_bytes, std::uint64_t longest_bytes) {
    return {in, 0, lines, memory_budget_bytes, longest_bytes};
  }
  /// Records of `record_bytes` (> 0) each.
  static record_reader of_records(io::input_stream& in, std::size_t record_bytes) {
    return {in, record_bytes, {}, 0, 0};
  }

  /// The next record, valid until the next call; nothing at the end.
  /// @throws io_error; format_error if the input ends inside a record, naming it, its size and the
  /// record's, or if it is no CSV, naming line and column (LF behind records that end in CR alone
  /// is one such fault), or has too few fields, naming the line
  /// and both numbers; budget_error naming both sizes for a line that is too long.
  std::optional<std::string_view> next() {
    auto const found = next_at_hand();
    return found ? found : next_across_views();
  }

  /// The next record if it needs no further bytes of the stream, which keeps the one before valid;
  /// nothing if next() has to find out.
  std::optional<std::string_view> next_at_hand() {
    return record_bytes_ != 0 ? cut_record() : cut_line();
  }
  /// As many of the next ones that need no further bytes as `records` has room for, and returns how
  /// many; 0 if next() has to find out. All of them are valid until then.
  std::size_t next_at_hand(std::span<std::string_view> records);

  /// The line, from 1, in which the `last` record of CSV began that next() has returned.
  std::uint64_t line_of(std::string_view last) const noexcept {
    return line_number_ - 1 - static_cast<std::uint64_t>(std::ranges::count(last, delimiter_));
  }

  /// Whether CSV begins with a byte order mark. Reads the first record. @throws io_error.
  bool has_mark() {
    begin_csv();
    return has_mark_;
  }
  /// What ends the lines; nothing if there is none of CSV with an end. Likewise.
  std::optional<char> end_of_lines() {
    begin_csv();
    return ends_are_known_ ? std::optional(delimiter_) : std::nullopt;
  }

  /// Bytes of the input up to the end of the last record, its delimiter included.
  std::uint64_t consumed_bytes() const noexcept { return read_bytes_ - view_.size(); }

 private:
  record_reader(io::input_stream& in, std::size_t record_bytes, line_format const& lines,
                std::uint64_t memory_budget_bytes, std::uint64_t longest_bytes)
      : in_(&in),
        record_bytes_(record_bytes),
        delimiter_(lines.csv ? '\n' : lines.delimiter),
        csv_(lines.csv),
        least_fields_(lines.least_fields),
        budget_bytes_(memory_budget_bytes),
        longest_bytes_(longest_bytes),
        ends_are_known_(!lines.csv) {}

  std::optional<std::string_view> cut_record() {
    if (view_.size() < record_bytes_) return std::nullopt;
    std::string_view const record = view_.substr(0, record_bytes_);
    view_.remove_prefix(record_bytes_);
    return record;
  }
  std::optional<std::string_view> cut_line() {
    std::size_t const end = view_.find(delimiter_);
    if (end == std::string_view::npos || end > longest_bytes_) return std::nullopt;
    std::string_view const line = view_.substr(0, end);
    if (csv_ && !is_whole_record(line)) return std::nullopt;
    view_.remove_prefix(end + 1);
    return line;
  }

  // Without quotes it is; what quotes mean, or that fields are missing, must be found out. What is
  // in front of the first line may be in `pieced_`.
  bool is_whole_record(std::string_view line) {
    if (at_begin_ || line.find(csv_->quote) != std::string_view::npos) return false;
    if (delimiter_ != '\n' && line.find('\n') != std::string_view::npos) return false;
    if (least_fields_ > 1 && lacks_fields(line)) return false;
    note_record(line);
    return true;
  }
  void note_record(std::string_view record) {
    ends_with_cr_ = record.ends_with('\r');
    ++line_number_;
  }

  std::size_t cut_lines(std::span<std::string_view> lines);
  bool lacks_fields(std::string_view record) const;
  void refuse_missing_fields(std::string_view record) const;
  bool refill();
  void begin_csv();
  void step_over_mark();
  void find_end_of_lines();
  std::optional<std::string_view> next_csv();
  std::optional<std::string_view> finish_csv(detail::csv_scanner& scanner);
  std::string_view note_quoted(std::string_view record);
  std::size_t scan_csv(detail::csv_scanner& scanner);
  void refuse_fault(detail::csv_scanner const& scanner, std::string_view bytes, bool ends) const;
  std::optional<std::string_view> next_across_views();
  std::optional<std::string_view> finish_record();
  std::optional<std::string_view> finish_line();
  [[noreturn]] void throw_too_long(std::uint64_t so_far);

  io::input_stream* in_;
  std::size_t record_bytes_;  // 0: lines
  char delimiter_;
  std::optional<csv_format> csv_;
  std::size_t least_fields_;  // of CSV
  std::uint64_t budget_bytes_;
  std::uint64_t longest_bytes_;  // of a line
  std::uint64_t read_bytes_ = 0;
  std::string_view view_;          // what is left of the stream's current view
  std::string pieced_;             // a record that straddles views
  std::uint64_t line_number_ = 1;  // where the next record of CSV begins
  bool ends_with_cr_ = false;      // the last one
  bool has_begun_ = false;         // of CSV, what is in front of the first record is known
  bool at_begin_ = true;           // of CSV, no record has been read
  bool has_mark_ = false;
  bool ends_are_known_;
};

}  // namespace outsize
