// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How commands run that work as a sort does: memory refused before it is missed, a clean end when
// interrupted, a bar, a report. Layer: tools.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <outsize/algorithm/sort_options.hpp>
#include <outsize/algorithm/sort_plan.hpp>
#include <outsize/block/storage.hpp>
#include <tools/outsize/compression_options.hpp>
#include <tools/outsize/work_options.hpp>

namespace outsize::tool {

/// What a command reads and where it writes, which may be an input.
struct command_files {
  std::vector<std::string> inputs;
  std::string output;
  compression_options codecs;  ///< Of both.
  contents what = contents::lines;
  std::size_t inputs_at_once = 1;  ///< How many are open at the same time.
  /// Plans the work, for its report; nothing where it cannot be planned.
  std::function<std::optional<sort_plan>(outsize::storage&)> plan = {};
};

/// Makes the storage that `work` asks for, with room for what those files need to be compressed and
/// decompressed if it names no memory.
/// @throws budget_error if that is too little memory for a sort, or more than there is.
storage_options sort_storage(work_options const& work, command_files const& files);

/// Runs `program` for the command of that name, with the storage asked for and options that show
/// how far it is; then writes the reports that were asked for. Returns exit_done. @throws what the
/// program throws; a budget_error names -S; usage_error if a report would replace an input, the
/// output or the other. The output is there, complete, if only a report cannot be written.
int run_sort_command(
    std::string const& name, work_options const& work, command_files const& files,
    std::function<sort_report(outsize::storage&, sort_options const&)> const& program);

}  // namespace outsize::tool
