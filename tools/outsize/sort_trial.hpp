// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A quick measurement of a sort on this machine: generate, sort, check, in a folder that is removed
// at the end. The comparison with other programs is bench/'s; this one needs nothing but the tool.
// Layer: tools. Main thread only.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include <outsize/base/units.hpp>

namespace outsize::tool {

struct sort_trial_options {
  std::string kind = "u64";          ///< u64, records or lines
  std::string directory = ".";       ///< For input, output and temporary files.
  std::uint64_t size_bytes = 1_GiB;  ///< Of the input, about.
  std::uint64_t memory_bytes = 256_MiB;
  std::uint64_t threads = 0;  ///< 0: as many as the sort chooses.
};

struct sort_trial_report {
  bool is_verified = false;  ///< In order, and the same items as the input.
  nlohmann::json sort = {};  ///< What `outsize sort --json` says.
};

/// Needs three times the size on the disk.
///
/// Errors:  std::invalid_argument for an unknown kind; out_of_space before anything is written;
///          std::runtime_error if a step fails (its own message stands on stderr); interrupted.
sort_trial_report run_sort_trial(sort_trial_options const& options);

}  // namespace outsize::tool
