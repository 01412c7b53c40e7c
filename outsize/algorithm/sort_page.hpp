// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A sort for people: its networks under names that they know, and a page of HTML. Pure functions.
// Layer: algorithm.

#include <string>
#include <vector>

#include <outsize/algorithm/sort_options.hpp>
#include <outsize/pipeline/network_report.hpp>
#include <outsize/pipeline/run_page.hpp>

namespace outsize {

/// Returns the networks of a sort. Stages are named after the steps of a sort that a user knows:
/// "read input", "write runs".
std::vector<pipeline::network_report> sort_networks(sort_report const& report);

/// Returns a page of a sort: its figures and its networks. The caller adds time, load and volumes
/// where they were measured; html() makes the text of it.
/// Checked: outsize/algorithm/sort_page_test.cpp.
pipeline::run_page page_of(sort_report const& report, std::string title);

}  // namespace outsize
