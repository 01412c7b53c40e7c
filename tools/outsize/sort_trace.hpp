// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The inside of a sort, for its reports: how long each stage worked and waited, and a trace in
// which reading, sorting, spilling, merging, writing and each request stand side by side.
// Layer: tools. One thread at a time.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include <outsize/algorithm/sort_options.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/timeline.hpp>
#include <tools/outsize/output_file.hpp>

namespace outsize::tool {

/// Returns the networks of a sort for a report: the seconds of each, and those in which each stage
/// worked and waited.
nlohmann::ordered_json sort_networks_json(sort_report const& report);

/// A trace of one sort, which is to be told `sort_options::trace`. To be made before the storage,
/// as requests are noted in it until the storage is gone.
class sort_trace {
 public:
  /// Opens the file, so that one that cannot be written costs nothing. @throws io_error.
  explicit sort_trace(std::string const& path) : file_(path) {}

  /// Notes what is read and written from now on. @pre no request is under way.
  void watch(outsize::storage& store) { store.note_in(&io_); }

  /// Writes the trace of the sort that has ended. @throws io_error, out_of_space.
  void write(sort_report const& report);

 private:
  output_file file_;
  io::timeline io_;
};

}  // namespace outsize::tool
