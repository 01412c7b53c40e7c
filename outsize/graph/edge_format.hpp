// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The formats of files of edges, and how a file's format is recognised. Pure functions, usable from
// any number of threads. Layer: graph.

#include <cstdint>
#include <optional>
#include <string_view>

namespace outsize::graphs {

/// A format of a list of edges.
enum class edge_format : std::uint8_t {
  automatic,      ///< By the name of the file, or else by its first bytes.
  text,           ///< Lines of two vertices and any further columns; # and % begin comments.
  csv,            ///< Records whose first two fields are vertices, perhaps behind a header.
  u32,            ///< Pairs of little-endian numbers of 32 bits.
  u64,            ///< Pairs of little-endian numbers of 64 bits.
  matrix_market,  ///< A sparse matrix (coordinate); an entry is an edge from its row to its column.
  metis           ///< A line of neighbours for each vertex, behind a header.
};

/// Returns the format of that name: auto, text, csv, u32, u64, mm or metis.
std::optional<edge_format> edge_format_called(std::string_view name) noexcept;

/// Returns the format that a file's name promises: .csv, .u32, .u64, .mtx and .mm, .graph and
/// .metis, also in front of the ending of a compressed file; else automatic.
edge_format edge_format_of_name(std::string_view path) noexcept;

/// Returns the format of a file whose name promises none and that begins like this: Matrix Market
/// by its first line, CSV by a comma or a quote in the first line that is not a comment, else text.
/// Returns nothing for bytes that are no text.
std::optional<edge_format> edge_format_of_bytes(std::string_view beginning) noexcept;

/// Returns the number of the first vertex in files of this format: 1 in Matrix Market and METIS,
/// else 0.
constexpr std::uint64_t first_vertex_of(edge_format format) noexcept {
  return format == edge_format::matrix_market || format == edge_format::metis ? 1 : 0;
}

/// Tells whether a file of this format is of numbers in binary.
constexpr bool is_binary(edge_format format) noexcept {
  return format == edge_format::u32 || format == edge_format::u64;
}

namespace detail {

/// Returns the first line of a text that has anything in it and is no comment, without its end.
/// Returns nothing if the text has no such line, or not its end.
std::optional<std::string_view> first_data_line(std::string_view text) noexcept;

}  // namespace detail
}  // namespace outsize::graphs
