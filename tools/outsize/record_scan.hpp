// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A scan over the items of a file, lines or records of one length, that also holds the item before
// the current one, which is what checking an order needs. Layer: tools. One thread at a time.
//
// The items stay where the stream has them; only the one before a refill is copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <outsize/base/memory_budget.hpp>
#include <outsize/io/input_stream.hpp>
#include <outsize/io/request_queue.hpp>
#include <outsize/record/record_reader.hpp>
#include <tools/outsize/compression_options.hpp>
#include <tools/outsize/key_options.hpp>

namespace outsize::tool {

class record_scan {
 public:
  static constexpr std::size_t default_block_bytes = std::size_t{1} << 20;

  /// How the file is read.
  struct reading {
    io::input_decoding decoding = {};  ///< What is undone on the way.
    std::size_t block_bytes = default_block_bytes;
    memory_budget* codec_memory = nullptr;  ///< As in input_stream_options; outlives the scan.
  };

  /// Reads lines; a header is one of them. "-" is stdin.
  /// Errors:  io_error naming the path.
  static record_scan of_lines(std::string const& path, line_format const& lines,
                              reading const& how);
  static record_scan of_lines(std::string const& path, line_format const& lines) {
    return of_lines(path, lines, {});
  }
  /// Reads items of `item_bytes` (not 0) each.
  static record_scan of_records(std::string const& path, std::size_t item_bytes,
                                reading const& how);
  static record_scan of_records(std::string const& path, std::size_t item_bytes) {
    return of_records(path, item_bytes, {});
  }

  /// Goes to the next item and returns true, or false at the end.
  ///
  /// Errors:  io_error; format_error naming the file and what is wrong with it: where it ends
  ///          inside of an item, or is no CSV, or its compression is damaged.
  bool next() {
    offset_bytes_ = source_->records.consumed_bytes();
    auto const found = source_->records.next_at_hand();
    if (!found) return next_beyond();
    previous_ = std::exchange(current_, *found);
    ++count_;
    return true;
  }

  /// The item, without its delimiter; valid until next().
  std::string_view current() const noexcept { return current_; }
  /// The item before it, empty at the first one.
  std::string_view previous() const noexcept { return previous_; }

  /// Number of items so far, the current one included.
  std::uint64_t count() const noexcept { return count_; }
  /// The line in which it begins, from 1: not its number where records of CSV have several lines.
  std::uint64_t line() const {
    return source_->is_csv ? source_->records.line_of(current_) : count_;
  }
  /// Where the current item begins in the file.
  std::uint64_t offset_bytes() const noexcept { return offset_bytes_; }
  /// Bytes of all items so far, with delimiters.
  std::uint64_t consumed_bytes() const noexcept { return source_->records.consumed_bytes(); }

 private:
  // On the heap, so that it stays where it is when the scan moves. The members need those before.
  struct source {
    source(std::string const& path, std::size_t item_bytes, line_format const& lines,
           io::input_stream_options const& options);

    std::unique_ptr<io::request_queue> queue;
    memory_budget budget;
    grant memory;
    std::unique_ptr<io::input_stream> bytes;
    record_reader records;
    bool is_csv;
    std::string previous;  // when its place in the stream is gone
  };

  explicit record_scan(std::unique_ptr<source> from) : source_(std::move(from)) {}
  bool next_beyond();

  std::unique_ptr<source> source_;
  std::string_view current_;
  std::string_view previous_;
  std::uint64_t offset_bytes_ = 0;
  std::uint64_t count_ = 0;
};

/// Opens a file of lines or records, whichever the options say, decoded if they say so.
/// Errors:  those of record_scan, of key_options::lines and of compression_options::look_at.
record_scan open_scan(key_options const& keys, compression_options const& codecs,
                      std::string const& path, memory_budget& codec_memory);

/// What so many scans leave of the process's memory for libraries of compression.
std::uint64_t codec_bytes_beside_scans(std::size_t count);

}  // namespace outsize::tool
