// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How commands run that take several passes over one file, whose I/O does not depend on what is in
// it: a clean end when interrupted, a bar, reports and pictures of each pass. Layer: tools.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <outsize/block/storage.hpp>
#include <outsize/numeric/passes.hpp>
#include <outsize/pipeline/network_report.hpp>
#include <tools/outsize/json_file.hpp>
#include <tools/outsize/options.hpp>
#include <tools/outsize/output_file.hpp>
#include <tools/outsize/report_file.hpp>
#include <tools/outsize/work_options.hpp>

namespace outsize::tool {

/// What such a program is asked for.
struct pass_request {
  work_options work;
  std::string input;
  std::string output;
  std::optional<std::string> picture;  ///< --svg: where to draw the networks

  /// The storage asked for, with a queue for requests that are short and far apart: a solid-state
  /// disk wants many of them at once.
  storage_options storage() const;
};

/// -o and --svg.
std::vector<option> pass_rows(pass_request& into);

/// The lengths of a pass's shortest requests.
struct pass_requests {
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
};

/// What such a program did, for the report.
struct pass_outcome {
  std::uint64_t records = 0;
  std::uint64_t record_bytes = 0;
  std::uint64_t passes = 0;
  double seconds = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t block_bytes = 0;
  std::vector<pass_requests> requests = {};  ///< One for each network, or none.
  std::vector<pipeline::network_report> networks = {};
};

/// The reports that were asked for: JSON, a page, pictures and traces, the latter two numbered if
/// there are several passes ("x.svg", "x.2.svg", …).
class pass_reports {
 public:
  /// Opens the first of each kind: where one cannot be written, no work is lost. Samples the load
  /// of `store`, which must outlive it, if there is to be a page. @throws io_error.
  pass_reports(std::string command, pass_request const& request, outsize::storage& store);

  /// Call it once. @throws io_error, out_of_space.
  void write(pass_outcome const& outcome);

 private:
  void write_page(pass_outcome const& outcome);

  std::string command_, input_, output_;
  outsize::storage& store_;
  std::optional<std::string> picture_path_, trace_path_;
  std::unique_ptr<json_file> json_;
  std::optional<output_file> first_picture_, first_trace_;
  std::optional<report_file> page_;
};

/// Reads the arguments by `table`, which has the rows above: one operand, and -o is needed.
/// Returns false if only help was asked for. @throws usage_error.
bool parse_pass_request(option_table const& table, int argc, char** argv, pass_request& into);

/// Runs `program` as such a command does: ends cleanly when interrupted, shows a bar, writes the
/// reports that were asked for. Throws what the program throws; a budget_error names -S.
int run_pass_command(
    std::string const& name, pass_request const& request, storage_options const& options,
    std::function<pass_outcome(outsize::storage&, numeric::pass_listener const&)> const& program);

}  // namespace outsize::tool
