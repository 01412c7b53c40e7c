// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// What all commands that work on whole files are given: memory, disks, threads, and what to tell.
// Layer: tools. Plain values, and the rows of the option table that fill them.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/algorithm/sort/sort_options.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/numeric/passes.hpp>
#include <outsize/pipeline/network_report.hpp>
#include <tools/outsize/options.hpp>

namespace outsize::tool {

struct work_options {
  std::optional<std::uint64_t> memory_bytes;  ///< -S
  std::string memory_text;                    ///< As it was written, for messages.
  std::vector<std::string> directories;       ///< -T
  std::optional<std::size_t> threads;         ///< --parallel
  bool checksums = true;                      ///< --block-checksums, --no-block-checksums
  run_codec codec = run_codec::automatic;     ///< --run-codec
  std::size_t most_fan_in = 0;                ///< --batch-size; 0: as memory allows
  std::optional<bool> progress;               ///< --progress, --no-progress
  std::optional<std::string> json;            ///< --json
  std::optional<std::string> trace;           ///< --trace: where to note what went on inside

  /// A storage with these; what is not said has the storage's defaults.
  storage_options storage() const;
  /// What spill_rows() say, for a sort, and whether it is traced.
  sort_options sorting() const;
};

/// -S, --memory, -T and --parallel. `into` must outlive the table.
std::vector<option> resource_rows(work_options& into);
/// --block-checksums, --no-block-checksums, --run-codec and --batch-size: how sorts keep temporary
/// blocks, and merge them.
std::vector<option> spill_rows(work_options& into);
/// --progress, --no-progress, --json and --trace.
std::vector<option> report_rows(work_options& into);

/// Notes the path of an output, of which there is one: if one is `given`, `path` must be the same.
/// Errors:  usage_error naming both.
void set_output(std::string_view path, std::string& into, bool& given);

/// A file that is written, as messages call it.
struct named_output {
  std::string_view name;
  std::optional<std::string> path;
  bool may_be_input = false;
};

/// Errors:  usage_error if two are one file, of which the last written would be left; or if one is
///          an input that may not be.
void refuse_same_files(std::vector<std::string> const& inputs,
                       std::initializer_list<named_output> outputs);

/// Calls `work_on()`; a budget_error that leaves it names -S, if there was one.
int naming_memory(work_options const& work, std::function<int()> const& work_on);

/// Seconds of the processor that the process has used so far.
double processor_seconds();

/// -o and --output.
option output_row(std::string& into, std::string help);

/// What a program of several passes over one file is asked for.
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
  std::uint64_t passes = 0;
  double seconds = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t block_bytes = 0;
  std::vector<pass_requests> requests = {};  ///< One for each network, or none.
  std::vector<pipeline::network_report> networks = {};
};

/// Reads the arguments by `table`, which has the rows above: one operand, and -o is needed.
/// Returns false if only help was asked for. @throws usage_error.
bool parse_pass_request(option_table const& table, int argc, char** argv, pass_request& into);

/// Runs `program` as such a command does: ends cleanly when interrupted, shows a bar, writes the
/// reports that were asked for. Throws what the program throws; a budget_error names -S.
int run_pass_command(
    std::string const& name, pass_request const& request, storage_options const& options,
    std::function<pass_outcome(outsize::storage&, numeric::pass_listener const&)> const& program);

/// Writes the reports that were asked for: JSON, pictures and traces, numbered if there are several
/// passes ("x.svg", "x.2.svg", …). @throws io_error.
void write_reports(pass_request const& request, outsize::storage& store,
                   pass_outcome const& outcome);

}  // namespace outsize::tool
