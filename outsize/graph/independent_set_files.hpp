// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Maximal independent sets from files of edges to a file of vertices, and the check of such files.
//
//   files ─▶ edge_reader ─▶ independent_set_finder ─▶ text, a vertex a line ─▶ output
//   the same files again ─▶ independent_set_check ─▶ fault?                        (verify)
//
// Vertices are written as the files of edges number them. By the storage's threads; the caller
// waits. Layer: graph.

#include <cstdint>
#include <optional>
#include <string>

#include <outsize/algorithm/sort_options.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/graph/edge_list.hpp>
#include <outsize/graph/independent_set_check.hpp>

namespace outsize::graphs {

/// The files of write_independent_set().
struct independent_set_files {
  edge_source edges = {};
  std::string output = "-";  ///< "-": standard output. May be a file of edges.
  /// Reads the edges again and proves the set before the output gets its name.
  bool verify = false;
};

/// The outcome of write_independent_set() and check_independent_set().
struct independent_set_outcome {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;    ///< In the files, with loops and repeats.
  std::uint64_t members = 0;  ///< In the set.
  /// The reason why the set is wrong, numbered from 0. A set that was found is wrong only if the
  /// files have changed or hardware fails; it is not written then, unless to a pipe.
  std::optional<independence_fault> fault = {};
  std::uint64_t first_vertex = 0;  ///< The number that the files give to the first vertex.
  sort_report sort = {};           ///< Items are edges, output_items members.
};

/// Finds the lexicographically first maximal independent set, and writes its members, ascending.
///
/// I/Os:    those of edge_reader and of independent_set_finder, and a scan of the output. With
///          `verify` the members are kept on disk, the files read again, and those of the check.
/// Memory:  all that the storage has free, at least min_sort_memory_bytes.
/// Disk:    as independent_set_finder; with `verify` 8 bytes a member.
/// Threads: the storage's; blocks the caller.
/// Errors:  as edge_reader, sorter, priority_queue; std::invalid_argument if `verify` is to read
///          standard input or a pipe again. No output then, nothing is left on disk.
/// Checked: independent_set_files_test.cpp, tests/tool/mis_test.py.
independent_set_outcome write_independent_set(storage& store, independent_set_files const& files,
                                              sort_options const& options = {});

/// Checks the set in the file `members` ("-": standard input): lines that begin with a vertex, as
/// the files of edges number them, in any order; # and % begin comments.
///
/// I/Os:    two scans of the edges, one if `edges.vertices` is given; those of the check.
/// Memory, threads, errors: as above; format_error naming file and line of a bad member.
/// Checked: independent_set_files_test.cpp, tests/tool/mis_test.py.
independent_set_outcome check_independent_set(storage& store, edge_source const& edges,
                                              std::string const& members,
                                              sort_options const& options = {});

}  // namespace outsize::graphs
