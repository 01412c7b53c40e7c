// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The parsers of edge lists: one for each format, behind one interface, and the errors that they
// share. One thread at a time. Layer: graph.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/graph/edge.hpp>
#include <outsize/io/input_stream.hpp>
#include <outsize/record/csv_scanner.hpp>

namespace outsize::graphs::detail {

/// Edges as parsers yield them.
using edge_batch = std::vector<edge<std::uint64_t>>;

/// The numbers that vertices of a file may have.
struct vertex_range {
  std::uint64_t first = 0;
  /// The greatest number is not a vertex, as the number of vertices has the same type.
  std::uint64_t count = std::numeric_limits<std::uint64_t>::max();

  bool has(std::uint64_t number) const noexcept { return number - first < count; }
};

/// A file of edges that is being read.
class edge_file {
 public:
  edge_file() = default;
  edge_file(edge_file const&) = delete;
  edge_file& operator=(edge_file const&) = delete;
  virtual ~edge_file() = default;

  /// Returns the next edges, numbered from 0, valid until the next call; none at the end.
  /// @throws format_error naming the file and the place; errors of the stream.
  virtual std::span<edge<std::uint64_t> const> next() = 0;
  /// Returns the number of vertices in the header, if it has been read; else 0.
  virtual std::uint64_t vertices() const noexcept { return 0; }
};

/// How CSV is read; see edge_source.
struct csv_edges_options {
  csv_format csv = {};
  std::optional<bool> header = {};
};

/// Make the parsers of `in`, which they own. @param vertices  The most that the graph may have.
std::unique_ptr<edge_file> open_edge_lines(std::unique_ptr<io::input_stream> in,
                                           std::uint64_t vertices);
std::unique_ptr<edge_file> open_csv_edges(std::unique_ptr<io::input_stream> in,
                                          std::uint64_t vertices, csv_edges_options options);
std::unique_ptr<edge_file> open_binary_edges(std::unique_ptr<io::input_stream> in,
                                             std::uint64_t vertices, std::size_t vertex_bytes);
std::unique_ptr<edge_file> open_matrix_market(std::unique_ptr<io::input_stream> in,
                                              std::uint64_t vertices);
std::unique_ptr<edge_file> open_metis(std::unique_ptr<io::input_stream> in, std::uint64_t vertices);

/// A place in a file, for messages: "FILE:LINE".
struct line_place {
  std::string const& file;
  std::uint64_t line;
};

/// Throws the format_error "FILE:LINE: `reason`: 'beginning of the text'". The text ends where its
/// line does, if not before.
[[noreturn]] void refuse_text(line_place place, std::string_view reason, std::string_view text);
/// Throws the format_error "FILE:LINE: `reason`".
[[noreturn]] void refuse_line(line_place place, std::string_view reason);
/// Returns the reason why `number` is not a vertex.
std::string reason_against(std::uint64_t number, vertex_range range);
/// Throws if a header names more vertices than there may be.
void require_vertices(line_place place, std::uint64_t named, std::uint64_t most);

/// A number at the beginning of a text.
struct leading_number {
  std::uint64_t value;
  char const* end;  ///< Behind its digits.
  bool fits;        ///< In 64 bits.
};

/// Reads decimal digits from `at` on. @pre a byte that is no digit follows; *at is a digit.
inline leading_number read_digits(char const* at) noexcept {
  constexpr std::ptrdiff_t digits_that_fit = 19;
  char const* const begin = at;
  std::uint64_t value = 0;
  for (unsigned digit = static_cast<unsigned char>(*at) - '0'; digit < 10;
       digit = static_cast<unsigned char>(*++at) - '0')
    value = value * 10 + digit;
  if (at - begin <= digits_that_fit) [[likely]]
    return {value, at, true};
  value = 0;
  bool fits = true;
  for (char const* c = begin; c != at; ++c)
    fits = !__builtin_mul_overflow(value, std::uint64_t{10}, &value) &&
           !__builtin_add_overflow(value, static_cast<std::uint64_t>(*c - '0'), &value) && fits;
  return {value, at, fits};
}

inline bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
/// A blank within a line.
inline bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }

}  // namespace outsize::graphs::detail
