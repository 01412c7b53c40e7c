// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Lines of two vertices: the inner loop of text and of Matrix Market.
//
//   line   blank* (comment | vertex blank+ vertex (blank anything)?)? LF
//
// One thread at a time. Layer: graph.

#include <cstdint>
#include <string>
#include <string_view>

#include <outsize/graph/detail/edge_file.hpp>

namespace outsize::graphs::detail {

/// Makes edges of pieces of text that consist of whole lines.
class edge_line_parser {
 public:
  /// @param file  For messages; must outlive the parser.
  edge_line_parser(std::string const& file, vertex_range from, vertex_range to) noexcept
      : file_(file), from_(from), to_(to) {}

  /// Appends the edges of `piece`, which ends in LF. @throws format_error naming file and line.
  void parse(std::string_view piece, edge_batch& into);

  /// Returns the number of the next line, from 1.
  std::uint64_t line() const noexcept { return line_; }
  /// Skips lines that others have read.
  void skip_lines(std::uint64_t count) noexcept { line_ += count; }

 private:
  char const* parse_edge(char const* at, edge_batch& into) const;

  std::string const& file_;
  vertex_range from_, to_;
  std::uint64_t line_ = 1;
};

}  // namespace outsize::graphs::detail
