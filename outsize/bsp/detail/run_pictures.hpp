// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Pictures of a run of virtual processors, in the colours of a page (pipeline/run_page.hpp).
//
//   rank 0   ███████▒▒▒······███▒▒▒·····      computing, moving, waiting
//   rank 1   ·······█████▒▒▒·····████
//
// Many processors or supersteps are drawn as groups of neighbours, so that a picture has at most
// some thousand shapes. Pure functions. Layer: bsp.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <outsize/bsp/run_history.hpp>

namespace outsize::bsp::detail {

/// Neighbouring supersteps.
struct superstep_group {
  std::uint64_t first = 0, last = 0;  ///< Numbers of supersteps.
  run_history::span span = {};
  superstep_counts sum = {};
};
/// Divides all supersteps into at most `most` groups of equal length.
std::vector<superstep_group> superstep_groups(run_history const& all, std::size_t most);

/// A row for each processor, or for neighbours: shares of computing and of moving over time.
std::string timeline_picture(run_history const& all);
/// A bar over time for each superstep, or for neighbours.
std::string superstep_picture(run_history const& all);
/// A column for each superstep: bytes that were moved, and a line at those of the formula.
std::string byte_picture(run_history const& all);

}  // namespace outsize::bsp::detail
