// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The bytes of a stream in short pieces that end where a line or a word does, so that parsers never
// see a part of a number.
//
//   views:   | … 12 7\n34 5|6 8\n … |        pieces: | … 12 7\n | 34 56 8\n | … |
//
// Most pieces lie where the stream has them. One thread at a time. Layer: graph.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <outsize/io/input_stream.hpp>

namespace outsize::graphs::detail {

class text_pieces {
 public:
  /// Where pieces end: behind an LF, or behind any blank.
  enum class ends : std::uint8_t { lines, words };

  /// A line or word that is longer is refused.
  static constexpr std::size_t longest_bytes = std::size_t{1} << 20;

  text_pieces(io::input_stream& in, ends at) noexcept : in_(in), at_(at) {}

  /// Returns the next piece, valid until the next call; empty at the end. The last one gets an LF
  /// if it has none. A byte order mark in front is skipped.
  /// @param line  The line where it begins, for messages.
  /// @throws io_error; format_error naming file and line if a line or word is too long.
  std::string_view next(std::uint64_t line);

 private:
  std::size_t first_end(std::string_view text) const noexcept;
  std::size_t last_end(std::string_view text) const noexcept;
  bool refill();
  std::string_view cut(std::size_t bytes) noexcept;
  std::string_view next_across_views(std::uint64_t line);

  io::input_stream& in_;
  ends at_;
  std::string_view view_;
  std::string pieced_;  // a piece that straddles views
  bool has_begun_ = false;
};

}  // namespace outsize::graphs::detail
