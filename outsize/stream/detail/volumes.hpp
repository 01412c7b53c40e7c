// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The bytes that will go through a graph, as far as sizes are known: for its progress, and to put
// beside those that did in its report.
//
// A value, of the moment when it was made. One thread. Layer: stream, internal.

#include <cstdint>
#include <map>
#include <optional>

#include <outsize/stream/detail/graph_state.hpp>

namespace outsize::stream::detail {

class graph_volumes {
 public:
  /// @pre count_items() was called since segments have run.
  explicit graph_volumes(graph_state const& g);

  /// Returns the bytes that come into the segments that have not run; nothing if the length of an
  /// input is unknown.
  std::optional<std::uint64_t> bytes_to_come() const;
  /// Returns the bytes that sorts and stores which a phase writes move: those of sorts that get
  /// less memory than their items need go to disks and come back, and so do those of stores.
  std::uint64_t disk_bytes(phase_plan const& phase) const;
  /// Returns the bytes of files that a phase reads and writes.
  std::uint64_t file_bytes(phase_plan const& phase) const;
  /// Returns the bytes that go through a boundary: if their number is not known, as many as come
  /// into the segment that writes it.
  std::optional<std::uint64_t> through(boundary_base const& b) const;

 private:
  using bytes = std::optional<std::uint64_t>;

  void expect(segment_record const& s);

  graph_state const& graph_;
  std::map<segment_base const*, bytes> into_;
};

}  // namespace outsize::stream::detail
