// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Edges read from files, one file after the other, some at a time.
//
//   file ─▶ bytes, decompressed ─▶ the parser of its format ─▶ span of edges, numbered from 0
//
// Invariant: vertices are numbered from 0 whatever the files do, and all lie below a bound if the
// caller or a header names one. One thread at a time. Layer: graph.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <outsize/base/memory_budget.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/graph/edge.hpp>
#include <outsize/graph/edge_format.hpp>
#include <outsize/io/input_form.hpp>
#include <outsize/io/input_stream.hpp>
#include <outsize/record/csv_scanner.hpp>

namespace outsize::graphs {

namespace detail {
class edge_file;
}  // namespace detail

/// Files of edges, and how they are read.
struct edge_source {
  std::vector<std::string> paths = {};  ///< "-", or an empty list: standard input.
  edge_format format = edge_format::automatic;
  csv_format csv = {};
  /// Says that files of CSV begin with a line of names, or do not. By default a first line is one
  /// if neither of its first two fields begins with a digit.
  std::optional<bool> header = {};
  /// The number of vertices; by default that of the headers, or the greatest vertex + 1.
  std::optional<std::uint64_t> vertices = {};
  io::input_decoding decoding = {};
  std::stop_token stop = {};  ///< Triggered: next() throws `cancelled`.
};

/// Reads the edges of an edge_source.
///
///     for (auto edges = reader.next(); !edges.empty(); edges = reader.next()) use(edges);
///
/// I/Os:    a scan of the files.
/// Memory:  up to a seventh of the memory that the storage has free, for reading ahead. Beside it
///          256 KiB of edges, and up to 1 MiB of a line that two blocks share.
/// Errors:  io_error; foreign_input for compressed files that cannot be read; cancelled;
///          format_error naming file and line (binary: the pair), if it is malformed, names a
///          vertex that there is not, or contradicts a header; or naming the file, if there are
///          more than 2²⁴ vertices, a thousand for each edge, and no header or caller has said so.
///          The reader can then only be destroyed; edges given before are valid.
/// Checked: edge_list_test.cpp, detail/edge_file_test.cpp.
class edge_reader {
 public:
  /// Opens the first file. `store` must outlive the reader.
  edge_reader(storage& store, edge_source source);
  ~edge_reader();

  /// Returns the next edges, at least one, valid until the next call; none at the end.
  std::span<edge<std::uint64_t> const> next();

  /// Returns the number of vertices as far as it is known: all of it at the end.
  std::uint64_t vertices() const noexcept;
  /// Returns the number that the first vertex has in the files so far: 0 or 1.
  std::uint64_t first_vertex() const noexcept { return first_vertex_; }
  /// Returns the number of edges so far.
  std::uint64_t edges() const noexcept { return edges_; }

 private:
  void open_next();
  void check_gaps() const;
  std::uint64_t vertices_of_headers() const noexcept;

  storage& store_;
  edge_source source_;
  io::input_stream_options reading_;
  grant memory_;
  std::size_t opened_ = 0;
  std::unique_ptr<detail::edge_file> file_;
  std::uint64_t first_vertex_ = 0;
  std::uint64_t vertices_ = 0;    // below which are all edges
  std::uint64_t of_headers_ = 0;  // of earlier files
  std::uint64_t edges_ = 0;
};

}  // namespace outsize::graphs
