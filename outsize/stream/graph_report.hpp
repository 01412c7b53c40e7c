// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The measurements of a graph that has run: its phases, and the boundaries between segments.
//
// Values. Layer: stream.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <outsize/algorithm/sort_options.hpp>
#include <outsize/io/load_series.hpp>
#include <outsize/pipeline/network_report.hpp>

namespace outsize::stream {

struct graph_report {
  /// Names a segment: the number of its phase, from 1, and its index among the stages there.
  struct place {
    std::size_t phase = 0;
    std::size_t stage = 0;
  };
  /// Items went from one segment to another here.
  struct boundary {
    std::string name;
    std::string kind;  ///< "channel", "store", "sorter".
    place from = {};
    place to = {};
    std::uint64_t items = 0;
    std::size_t item_bytes = 0;       ///< 0: byte strings.
    std::uint64_t spilled_items = 0;  ///< Items that a channel kept on disk to avoid a deadlock.
    std::uint64_t granted_bytes =
        0;                  ///< The greatest share of the memory that a sorter was to have.
    sort_report sort = {};  ///< The report of a sorter.
  };

  std::string name;
  std::size_t threads = 0;
  double seconds = 0;
  std::uint64_t moved_bytes = 0;  ///< Bytes that came into segments.
  /// Bytes of sorts and stores to be written to disks and read again, by the sizes that were known
  /// when each phase began; and the bytes that the storage's disks moved meanwhile.
  std::uint64_t predicted_disk_bytes = 0;
  std::uint64_t disk_bytes = 0;
  /// Bytes of files to be read and written, likewise, and those that were.
  std::uint64_t predicted_file_bytes = 0;
  std::uint64_t file_bytes = 0;
  io::load_series load = io::load_series();           ///< The load of disks, files and processors.
  std::vector<pipeline::network_report> phases = {};  ///< A stage for each segment.
  std::vector<boundary> boundaries = {};

  /// Returns the number of stores that were put in where a path leads around a sort.
  std::size_t store_count() const noexcept;
  /// Returns all phases as one network: each is a cluster, sorters and stores are stages between
  /// them. It draws the graph: svg(), dot().
  pipeline::network_report picture() const;
  /// Returns the steps of all phases and sorts for trace viewers of browsers, if
  /// graph_options::trace was set.
  std::string chrome_trace() const;
  /// Returns all of this as a page of HTML that needs no other file (run_page.hpp).
  std::string html() const;
  /// Returns tables of the phases and of the sorts.
  std::string explain() const;
};

}  // namespace outsize::stream
