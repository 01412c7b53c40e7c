// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How commands run that work as a sort does: memory refused before it is missed, a clean end when
// interrupted, a bar, a report. Layer: tools.

#include <functional>
#include <string>

#include <outsize/algorithm/sort/sort_options.hpp>
#include <outsize/block/storage.hpp>
#include <tools/outsize/work_options.hpp>

namespace outsize::tool {

/// Makes the storage that `work` asks for.
/// @throws budget_error if that is too little memory for a sort, or more than there is.
storage_options sort_storage(work_options const& work);

/// Runs `program` for the command of that name, with the storage asked for and options that show
/// how far it is; then writes the reports that were asked for. Returns exit_done. `output` is where
/// the program writes. @throws what the program throws; a budget_error names -S; usage_error if a
/// report would replace the output or the other.
int run_sort_command(
    std::string const& name, work_options const& work, std::string const& output,
    std::function<sort_report(outsize::storage&, sort_options const&)> const& program);

/// Calls `work_on()`; a budget_error that leaves it names -S, if there was one.
int naming_memory(work_options const& work, std::function<int()> const& work_on);

}  // namespace outsize::tool
