// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Reads a file front to back, item by item, and remembers one item back. Layer: tools. Memory is
// one buffer, which grows only if two neighbouring lines are longer than it. One thread at a time.
//
//     buffer   | previous | current | not yet handed out .. | free |
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace outsize::tool {

class record_scan {
 public:
  static constexpr std::size_t default_buffer_bytes = std::size_t{1} << 20;

  /// Reads lines that end with `delimiter`; the last one may do without. "-" is stdin.
  /// Errors: io_error naming the path.
  static record_scan of_lines(std::string path, char delimiter,
                              std::size_t buffer_bytes = default_buffer_bytes);
  /// Reads items of `item_bytes` (not 0) each.
  static record_scan of_records(std::string path, std::size_t item_bytes,
                                std::size_t buffer_bytes = default_buffer_bytes);

  /// Goes to the next item and returns true, or false at the end.
  ///
  /// Errors: io_error; format_error naming the file, its size and the length of an item if the file
  /// ends inside one.
  bool next() {
    if (available() < item_bytes_ || item_bytes_ == 0) return next_of_kind();
    accept(item_bytes_, 0);
    return true;
  }

  /// The item, without its delimiter; valid until next().
  std::string_view current() const noexcept { return view(current_); }
  /// The item before it, empty at the first one.
  std::string_view previous() const noexcept { return view(previous_); }

  /// Number of items so far, the current one included.
  std::uint64_t count() const noexcept { return count_; }
  /// Where the current item begins in the file.
  std::uint64_t offset_bytes() const noexcept { return buffer_offset_ + current_.begin; }
  /// Bytes of all items so far, with delimiters.
  std::uint64_t consumed_bytes() const noexcept { return buffer_offset_ + next_; }

 private:
  struct range {
    std::size_t begin = 0;
    std::size_t length = 0;
  };
  struct closer {
    void operator()(std::FILE* file) const noexcept;
  };

  record_scan(std::string path, std::size_t item_bytes, char delimiter, std::size_t buffer_bytes);

  std::string_view view(range part) const noexcept {
    return {buffer_.data() + part.begin, part.length};
  }
  std::size_t available() const noexcept { return filled_ - next_; }
  void accept(std::size_t length, std::size_t delimiter_bytes) noexcept {
    previous_ = current_;
    current_ = {next_, length};
    next_ += length + delimiter_bytes;
    ++count_;
  }
  bool next_of_kind();
  bool next_record();
  bool next_line();
  bool refill();

  std::string path_;
  std::size_t item_bytes_;  // 0: lines
  char delimiter_;
  std::unique_ptr<std::FILE, closer> file_;
  std::vector<char> buffer_;
  std::uint64_t buffer_offset_ = 0;  // where the buffer begins in the file
  std::size_t filled_ = 0;
  std::size_t next_ = 0;  // begin of what was not yet handed out
  range current_;
  range previous_;
  std::uint64_t count_ = 0;
};

}  // namespace outsize::tool
