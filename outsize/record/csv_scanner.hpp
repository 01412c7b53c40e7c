// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Finds the ends of CSV records in a stream of bytes, which may come in any stretches.
//
//   record   field (separator field)* CR? (LF | end of the input)
//   field    quote (any byte but quote | quote quote)* quote, or any bytes but separator and LF
//            that do not begin with quote
//
// That is RFC 4180, with any separator, and quotes that are not in front have no meaning. In files
// whose records end in CR alone, CR takes the place of LF, which then stands in quotes only. One
// thread at a time. Layer: record.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace outsize {

/// How fields are separated and quoted. The two bytes differ, and neither is CR or LF.
struct csv_format {
  char separator = ',';
  char quote = '"';

  bool operator==(csv_format const&) const = default;
};

/// What may be in front of a text to say that it is UTF-8. It belongs to no record.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

namespace detail {

/// Returns the place of the quote that closes a field of a record, whose opening one is in front of
/// `at`; the end if there is none.
std::size_t csv_closing_quote(std::string_view record, std::size_t at, char quote) noexcept;

/// Returns where the field that begins at `at` ends: at a separator or the end of the record.
std::size_t csv_field_end(std::string_view record, std::size_t at, csv_format format) noexcept;

/// Returns the number of fields of a record, or `most` if there are more; an empty one has one.
std::size_t count_csv_fields(std::string_view record, csv_format format, std::size_t most) noexcept;

/// The way through one record.
class csv_scanner {
 public:
  /// @param record_end  LF or CR.
  explicit csv_scanner(csv_format format, char record_end = '\n') noexcept
      : format_(format), record_end_(record_end) {}

  static constexpr std::size_t not_found = std::string_view::npos;
  enum class fault : std::uint8_t { none, unclosed, behind_quote, other_end };

  /// Goes on through `bytes`. Returns the place of the byte that ends the record, and is ready for
  /// the next one; not_found if the record goes on or is faulty.
  std::size_t scan(std::string_view bytes) noexcept;

  /// What is wrong, if there are no bytes behind those seen (`ends`) or whatever follows.
  fault found_fault(bool ends) const noexcept;
  /// Where that is in the record: the quote that is not closed, the byte behind one that is, or the
  /// LF where records end in CR.
  std::size_t fault_place() const noexcept { return fault_place_; }

 private:
  enum class state : std::uint8_t {
    field_begins,
    plain,
    quoted,
    quote_seen,
    cr_seen,
    other_end_seen,
    faulty
  };

  std::size_t step_over_plain(std::string_view bytes, std::size_t at) noexcept;
  void step_past(char byte, std::size_t place) noexcept;

  bool is_at_fault() const noexcept { return state_ >= state::other_end_seen; }

  csv_format format_;
  char record_end_;
  state state_ = state::field_begins;
  std::size_t seen_bytes_ = 0;  // of the record, in earlier stretches
  std::size_t fault_place_ = 0;
};

}  // namespace detail
}  // namespace outsize
