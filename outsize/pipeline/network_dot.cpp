// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// The picture of a network in Graphviz's language: pools are cylinders, stages are boxes, doubly
// bordered if they do not run on the shared threads, small circles are the way home.
// Layer: pipeline.

#include <fmt/format.h>
#include <iterator>
#include <map>
#include <string_view>

#include <outsize/base/printable_text.hpp>
#include <outsize/pipeline/detail/network_figures.hpp>
#include <outsize/pipeline/network_report.hpp>

namespace outsize::pipeline {
namespace {

using detail::format_share;

/// As a part of a quoted label: no character of it is an escape or an entity.
std::string dot_text(std::string_view text) {
  std::string out;
  for (std::string_view const c : detail::characters_of(text)) {
    if (c == "\"" || c == "\\") out += '\\';
    if (c == "&") {
      out += "&amp;";
    } else if (c == "\n") {
      out += "\\n";
    } else {
      out += is_printable(c) ? c : " ";
    }
  }
  return out;
}

std::string dot_stage(network_report const& r, std::size_t i, bool is_bottleneck) {
  auto const& s = r.stages[i];
  std::string label = dot_text(s.name) + "\\n" + dot_text(detail::circumstances(r, s, ", "));
  if (r.has_run) {
    auto const shares = detail::shares_of(r, s);
    label += fmt::format("\\n{} when busy\\nbusy {}, no input {}, other wait {}",
                         detail::format_rate(s.bytes, s.busy_seconds), format_share(shares.busy),
                         format_share(shares.input_wait), format_share(shares.other_wait));
  }
  return fmt::format("s{} [label=\"{}\"{}{}];\n", i, label,
                     s.thread == "shared" ? "" : ", peripheries=2",
                     is_bottleneck ? ", color=red, fontcolor=red" : "");
}

std::string dot_connections(network_report const& r) {
  std::string out;
  auto const to = std::back_inserter(out);
  for (auto const& c : r.connections) {
    if (c.to == r.stages.size()) continue;
    if (c.from_pool) {
      fmt::format_to(to, "  p{} -> s{} [style=dashed];\n", c.from, c.to);
    } else {
      fmt::format_to(to, "  s{} -> s{};\n", c.from, c.to);
    }
  }
  for (std::size_t i : detail::last_stages(r))
    fmt::format_to(to,
                   "  h{} [shape=circle, label=\"\", width=0.12, tooltip=\"home\"];\n"
                   "  s{} -> h{} [style=dashed];\n",
                   i, i, i);
  return out;
}

}  // namespace

std::string network_report::dot() const {
  auto const slowest = has_run ? detail::bottleneck_of(*this) : std::nullopt;
  std::string out = fmt::format(
      "digraph network {{\n"
      "  label=\"{}\"; labelloc=t; rankdir=LR; fontname=\"sans-serif\";\n"
      "  node [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=11];\n",
      dot_text(memory.total_bytes > 0 ? name + '\n' + detail::memory_line(memory) : name));
  for (std::size_t p = 0; p < pools.size(); ++p)
    out += fmt::format("  p{} [shape=cylinder, style=solid, label=\"{}\\n{}\"];\n", p,
                       dot_text(pools[p].name), detail::pool_size(*this, pools[p]));
  std::map<std::string, std::vector<std::size_t>> clusters;
  for (std::size_t i = 0; i < stages.size(); ++i) clusters[stages[i].cluster].push_back(i);
  std::size_t number = 0;
  for (auto const& [cluster, members] : clusters) {
    if (!cluster.empty())
      out += fmt::format("  subgraph cluster_{} {{\n    label=\"{}\"; style=dashed;\n", number++,
                         dot_text(cluster));
    for (std::size_t i : members)
      out += (cluster.empty() ? "  " : "    ") + dot_stage(*this, i, slowest == i);
    if (!cluster.empty()) out += "  }\n";
  }
  return out + dot_connections(*this) + "}\n";
}

}  // namespace outsize::pipeline
