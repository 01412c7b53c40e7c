// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Cuts the bytes of an input stream into records: lines, or stretches of one length.
//
// Most records are handed out where the stream has them; one that straddles two of its views is put
// together in a buffer of its own. One thread at a time. Layer: algorithm.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <outsize/io/input_stream.hpp>

namespace outsize {

/// The records of one input stream, which must outlive it, one after the other.
class record_reader {
 public:
  /// Lines that end with `delimiter` (not part of them); the last one may do without.
  /// One line may have a fifth of `memory_budget_bytes`.
  static record_reader of_lines(io::input_stream& in, char delimiter,
                                std::uint64_t memory_budget_bytes) {
    return of_lines(in, delimiter, memory_budget_bytes, memory_budget_bytes / 5);
  }
  /// One line may have `longest_bytes`; the budget is for the message about a longer one.
  static record_reader of_lines(io::input_stream& in, char delimiter,
                                std::uint64_t memory_budget_bytes, std::uint64_t longest_bytes) {
    return {in, 0, delimiter, memory_budget_bytes, longest_bytes};
  }
  /// Records of `record_bytes` (> 0) each.
  static record_reader of_records(io::input_stream& in, std::size_t record_bytes) {
    return {in, record_bytes, '\0', 0, 0};
  }

  /// The next record, valid until the next call; nothing at the end.
  /// @throws io_error; format_error if the input ends inside a record, naming it, its size and the
  /// record's; budget_error naming both sizes for a line that is too long.
  std::optional<std::string_view> next() {
    auto const found = next_at_hand();
    return found ? found : next_across_views();
  }

  /// The next record if it needs no further bytes of the stream, which keeps the one before valid;
  /// nothing if next() has to find out.
  std::optional<std::string_view> next_at_hand() {
    return record_bytes_ != 0 ? cut_record() : cut_line();
  }

  /// Bytes of the input up to the end of the last record, its delimiter included.
  std::uint64_t consumed_bytes() const noexcept { return read_bytes_ - view_.size(); }

 private:
  record_reader(io::input_stream& in, std::size_t record_bytes, char delimiter,
                std::uint64_t memory_budget_bytes, std::uint64_t longest_bytes)
      : in_(&in),
        record_bytes_(record_bytes),
        delimiter_(delimiter),
        budget_bytes_(memory_budget_bytes),
        longest_bytes_(longest_bytes) {}

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
    view_.remove_prefix(end + 1);
    return line;
  }

  bool refill();
  std::optional<std::string_view> next_across_views();
  std::optional<std::string_view> finish_record();
  std::optional<std::string_view> finish_line();
  [[noreturn]] void throw_too_long(std::uint64_t so_far);

  io::input_stream* in_;
  std::size_t record_bytes_;  // 0: lines
  char delimiter_;
  std::uint64_t budget_bytes_;
  std::uint64_t longest_bytes_;  // of a line
  std::uint64_t read_bytes_ = 0;
  std::string_view view_;  // what is left of the stream's current view
  std::string pieced_;     // a record that straddles views
};

}  // namespace outsize
