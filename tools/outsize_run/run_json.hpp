// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A run as JSON, for programs. Pure functions. Layer: tools.

#include <string>

#include <outsize/bsp/process/memory_census.hpp>
#include <outsize/bsp/run_plan.hpp>
#include <outsize/io/statistics.hpp>

namespace outsize::launcher {

/// What was measured beside a report.
struct run_facts {
  std::string failure;  ///< Empty: all ranks have ended in order.
  double seconds = 0;
  bsp::process::memory_use most_memory = {};
  io::statistics_snapshot moved = {};  ///< By the disks.
};

/// Returns one object, in ASCII, and a line end. Sizes are in bytes; `peak_rss_bytes` counts shared
/// memory once, and page tables.
std::string run_json(bsp::run_report const& report, run_facts const& facts);

}  // namespace outsize::launcher
