// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// lines(path), csv(path): flows that begin at a text.
//
//     run(store, lines("words.txt") | sort_unique() | into_lines("sorted.txt"));
//     run(store, csv("orders.csv", {.header = true}) |
//                    transform([](csv_record const& r) { return parse(r.field(2)); }) |
//                    sort() | into("prices.bin"));
//
// A file is opened when the part of the graph runs that reads it, and read ahead. Items are views
// of its bytes where they have been read. One thread at a time. Layer: stream.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/base/external_item.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/io/input_form.hpp>
#include <outsize/io/input_stream.hpp>
#include <outsize/record/csv_scanner.hpp>
#include <outsize/record/record_reader.hpp>
#include <outsize/stream/detail/context.hpp>
#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/detail/item_copies.hpp>
#include <outsize/stream/flow.hpp>
#include <outsize/stream/sources.hpp>

namespace outsize::stream {

/// How lines are read.
struct lines_options {
  char delimiter = '\n';    ///< Ends a line; no part of it. The last line may do without.
  bool header = false;      ///< The first line is left out.
  bool decompress = false;  ///< A file that begins as compressed files do is decompressed.
  bool transcode = false;   ///< UTF-16 with a byte order mark becomes UTF-8.
};

/// How records of CSV are read.
struct csv_options {
  csv_format format = {};        ///< Separator and quote.
  bool header = false;           ///< The first record is left out.
  std::size_t least_fields = 0;  ///< Fields that a record must have, unless it is empty.
  bool decompress = false;       ///< As for lines.
  bool transcode = false;
};

namespace detail {

/// The fields of one record of CSV, found when they are first asked for.
struct csv_parts {
  csv_format format;
  std::uint64_t number = 0;              // of the record whose fields these are; 0: none
  std::vector<std::string_view> fields;  // as they are written
  std::deque<std::string> rooms;         // for values that do not lie in the record as they are
};

}  // namespace detail

/// A record of CSV, as a view: valid, like the values of its fields, until the flow goes on. Not an
/// external_item: to sort records, transform them into items of your own before.
class csv_record {
 public:
  csv_record() = default;
  /// For sources. `parts` must outlive it; no two records with these parts have the same number.
  csv_record(std::string_view bytes, detail::csv_parts& parts, std::uint64_t number) noexcept
      : bytes_(bytes), parts_(&parts), number_(number) {}

  /// Returns the record as it is written, without the end of its line.
  std::string_view bytes() const noexcept { return bytes_; }
  csv_format const& format() const noexcept { return parts_->format; }
  /// Returns the number of fields; an empty record has none.
  std::size_t size() const { return fields().size(); }
  /// Returns the value of a field, without quotes; empty if there is no such field.
  std::string_view field(std::size_t index) const;

  /// Compares the records as they are written.
  friend bool operator==(csv_record const& a, csv_record const& b) noexcept {
    return a.bytes_ == b.bytes_;
  }

 private:
  std::vector<std::string_view> const& fields() const;

  std::string_view bytes_;
  detail::csv_parts* parts_ = nullptr;
  std::uint64_t number_ = 0;
};

namespace detail {

template <>
struct kept_form<csv_record> {
  struct copy {
    std::string bytes;
    mutable csv_parts parts;
  };
  using type = std::shared_ptr<copy const>;
  static type of(csv_record const& item);
  static csv_record show(type const& kept) noexcept { return {kept->bytes, kept->parts, 1}; }
};

/// How a text is read.
struct text_form {
  line_format records;
  io::input_decoding decoding;
};

/// The records of a file that is open, some at a time.
class opened_text {
 public:
  /// Opens the file, in memory for one file of a graph. @throws io_error; foreign_input;
  /// budget_error.
  opened_text(segment_context& c, std::string const& path, text_form const& form);
  opened_text(opened_text const&) = delete;
  opened_text& operator=(opened_text const&) = delete;

  /// Returns the next records, valid until the next call; none at the end. @throws io_error;
  /// format_error; budget_error for a record longer than a fifth of the storage's memory.
  std::span<std::string_view const> next();
  /// Returns the bytes of the text that the last call of next() has gone past.
  std::uint64_t last_bytes() const noexcept { return last_bytes_; }

 private:
  opened_text(segment_context& c, std::string const& path, text_form const& form,
              io::input_stream_options const& reading);

  grant memory_;
  std::unique_ptr<io::input_stream> stream_;
  record_reader reader_;
  bool skips_header_;
  std::array<std::string_view, 256> records_;
  std::uint64_t last_bytes_ = 0;
};

class line_source : public piece_source<line_source, std::string_view> {
 public:
  line_source(std::string path, text_form form) : path_(std::move(path)), form_(form) {}

  void open(segment_context& c) { text_ = std::make_unique<opened_text>(c, path_, form_); }
  std::span<std::string_view const> next_piece() { return text_->next(); }
  std::uint64_t bytes_of(std::span<std::string_view const>) const noexcept {
    return text_->last_bytes();
  }
  void describe(description& d) const {
    d.operators.push_back("lines '" + path_ + "'");
    d.input_files.push_back(path_);
    ++d.files;
  }
  item_count size() const noexcept { return {}; }

 private:
  std::string path_;
  text_form form_;
  std::unique_ptr<opened_text> text_;
};

class csv_source : public piece_source<csv_source, csv_record> {
 public:
  csv_source(std::string path, text_form form) : path_(std::move(path)), form_(form) {}

  void open(segment_context& c) {
    text_ = std::make_unique<opened_text>(c, path_, form_);
    parts_ = std::make_unique<csv_parts>(
        csv_parts{.format = *form_.records.csv, .number = 0, .fields = {}, .rooms = {}});
  }
  std::span<csv_record const> next_piece() {
    records_.clear();
    for (std::string_view const bytes : text_->next())
      records_.emplace_back(bytes, *parts_, ++count_);
    return records_;
  }
  std::uint64_t bytes_of(std::span<csv_record const>) const noexcept { return text_->last_bytes(); }
  void describe(description& d) const {
    d.operators.push_back("csv '" + path_ + "'");
    d.input_files.push_back(path_);
    ++d.files;
  }
  item_count size() const noexcept { return {}; }

 private:
  std::string path_;
  text_form form_;
  std::unique_ptr<opened_text> text_;
  std::unique_ptr<csv_parts> parts_;
  std::vector<csv_record> records_;
  std::uint64_t count_ = 0;
};

}  // namespace detail

/// Begins a flow at the lines of a file, as std::string_view without their ends; "-" is standard
/// input. A CR in front of the end of a line is a part of it.
///
/// I/Os:    Reads the file once.
/// Memory:  Read-ahead of a few blocks from the storage's budget.
/// Errors:  out of the run: io_error; foreign_input for a compressed file of a kind that cannot be
///          read; budget_error for a line longer than a fifth of the storage's memory.
/// Checked: text_sources_test.cpp.
inline auto lines(std::string path, lines_options const& options = {}) {
  line_format format = options.delimiter;
  format.header = options.header;
  return flow(
      detail::line_source(std::move(path), {format, {options.decompress, options.transcode}}));
}

/// Begins a flow at the records of a CSV file, as csv_record; "-" is standard input. A byte order
/// mark in front is left out. Otherwise as lines().
///
/// Errors:  format_error that names file, line and column if it is not CSV, or if a record has
///          fewer fields than it must have.
/// Checked: text_sources_test.cpp.
inline auto csv(std::string path, csv_options const& options = {}) {
  line_format format;
  format.csv = options.format;
  format.least_fields = options.least_fields;
  format.header = options.header;
  return flow(
      detail::csv_source(std::move(path), {format, {options.decompress, options.transcode}}));
}

}  // namespace outsize::stream

/// It holds addresses, though they are not seen.
template <>
inline constexpr bool outsize::enable_external_item<outsize::stream::csv_record> = false;
