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

#include <outsize/algorithm/sort_options.hpp>
#include <outsize/block/storage.hpp>
#include <tools/outsize/options.hpp>
#include <tools/outsize/same_files.hpp>

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
  std::optional<std::string> report;          ///< --report: where to write a page of the run
  std::vector<std::string> also_read;         ///< Beside operands: files that options name.

  /// Notes a file that an option names, if it does, so that no report replaces it.
  void note_read(std::optional<std::string> const& path) {
    if (path) also_read.push_back(*path);
  }
  /// As asked for; else where somebody sees it.
  bool shows_progress() const;
  /// A storage with these; what is not said has the storage's defaults.
  storage_options storage() const;
  /// What spill_rows() say, for a sort, and whether it is traced.
  sort_options sorting() const;
};

/// A warning, for what grew while it was read (io::growth_listener).
void tell_of_growth(std::string const& message);

/// -S, --memory, -T and --parallel. `into` must outlive the table.
std::vector<option> resource_rows(work_options& into);
/// --block-checksums, --no-block-checksums, --run-codec and --batch-size: how sorts keep temporary
/// blocks, and merge them.
std::vector<option> spill_rows(work_options& into);
/// --progress, --no-progress, --json, --trace and --report.
std::vector<option> report_rows(work_options& into);

/// As refuse_same_files(), with what else the command reads.
void refuse_same_files(std::vector<std::string> inputs, work_options const& work,
                       std::vector<named_output> const& outputs);

/// Errors:  std::invalid_argument if one of these files is a raw disk of the storage.
void refuse_disks(outsize::storage const& store,
                  std::initializer_list<std::optional<std::string>> outputs);

/// Calls `work_on()`; a budget_error that leaves it names -S, if there was one.
int naming_memory(work_options const& work, std::function<int()> const& work_on);

}  // namespace outsize::tool
