// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A run of virtual processors for people: a page of HTML. Pure functions. Layer: bsp.

#include <string>

#include <outsize/bsp/run_plan.hpp>
#include <outsize/pipeline/run_page.hpp>

namespace outsize::bsp {

/// Returns a page of a run, ended or not: its plan and sums, the timeline of its processors, its
/// supersteps, the bytes of each beside those of the formula (superstep_counts::formula_bytes). The
/// caller adds time and load where they were measured; html() makes the text of it.
/// Checked: bsp_page_test.cpp.
pipeline::run_page page_of(run_report const& report, std::string title);

}  // namespace outsize::bsp
