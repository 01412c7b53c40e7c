// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The parts that charts of pages have in common: text of axes, and times below a chart. They append
// SVG in the classes of run_page's style. Pure functions. Layer: pipeline, internal.

#include <string>
#include <string_view>

namespace outsize::pipeline::detail {

/// Appends text at a place. @param anchor  "start", "middle" or "end".
void add_axis_text(std::string& out, double x, double y, std::string_view anchor,
                   std::string_view text);

/// Appends five times, from 0 to `seconds`, to the width from `left` to `right`.
void add_times(std::string& out, double left, double right, double y, double seconds);

}  // namespace outsize::pipeline::detail
