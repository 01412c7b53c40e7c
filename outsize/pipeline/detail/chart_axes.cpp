// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/pipeline/detail/chart_axes.hpp>

#include <fmt/format.h>

#include <iterator>

#include <outsize/pipeline/detail/network_figures.hpp>

namespace outsize::pipeline::detail {

void add_axis_text(std::string& out, double x, double y, std::string_view anchor,
                   std::string_view text) {
  fmt::format_to(std::back_inserter(out),
                 "<text class=\"axis\" x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y,
                 anchor, xml_text(text));
}

void add_times(std::string& out, double left, double right, double y, double seconds) {
  constexpr int times = 4;
  for (int i = 0; i <= times; ++i) {
    double const share = static_cast<double>(i) / times;
    add_axis_text(out, left + (right - left) * share, y,
                  i == 0       ? "start"
                  : i == times ? "end"
                               : "middle",
                  format_seconds(seconds * share));
  }
}

}  // namespace outsize::pipeline::detail
