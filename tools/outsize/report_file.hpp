// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A command's run as a page of HTML: --report. Layer: tools. One thread at a time.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <outsize/block/load_sampler.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/load_series.hpp>
#include <outsize/pipeline/run_page.hpp>
#include <tools/outsize/output_file.hpp>

namespace outsize::tool {

/// Bytes that a run is going to move, each once for each time that it moves them.
struct predicted_volumes {
  std::uint64_t files_read = 0;
  std::uint64_t files_written = 0;
  std::uint64_t blocks_read = 0;  ///< Temporary data.
  std::uint64_t blocks_written = 0;
  std::string blocks_note = {};  ///< Says how they were predicted.
};

/// The files and the time of a command, for its page.
struct command_facts {
  std::vector<std::string> inputs;
  std::string output;
  double seconds = 0;
  std::uint64_t input_bytes = 0;  ///< The length of all items; 0: not known.
  std::optional<predicted_volumes> predicted = {};
};

/// Returns a command and its first inputs: "outsize sort a b c and 6 more".
std::string title_of(std::string const& command, std::vector<std::string> const& inputs);

/// A file that gets the page of one run. It is opened before the work, so that a report that cannot
/// be written costs nothing, and appears with write(). The load is sampled while it lives.
class report_file {
 public:
  /// Opens `path`, "-" being stdout, and begins to sample. `store` must outlive it.
  /// @throws as output_file.
  report_file(std::string const& path, outsize::storage& store)
      : file_(path), store_(store), sampler_(store, load_) {}

  /// Ends the sampling, and writes `page` with all that is known of the process and of the disks
  /// added. Call it once. @throws as output_file.
  void write(pipeline::run_page page, command_facts const& facts);

 private:
  output_file file_;
  outsize::storage& store_;
  io::load_series load_;
  block::load_sampler sampler_;
};

}  // namespace outsize::tool
