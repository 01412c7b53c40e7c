// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/stream/graph_report.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <outsize/base/units.hpp>
#include <outsize/io/timeline.hpp>
#include <outsize/pipeline/run_page.hpp>

namespace outsize::stream {
namespace {

using pipeline::network_report;

std::string sort_note(sort_report const& s) {
  return fmt::format("{} run{}, {} pass{}", s.runs, s.runs == 1 ? "" : "s", s.passes,
                     s.passes == 1 ? "" : "es");
}

/// A sorter or store as a stage.
network_report::stage stage_of(graph_report::boundary const& b) {
  network_report::stage s;
  s.name = b.name;
  s.kind = b.kind;
  s.thread = "shared";
  s.items = b.items;
  s.bytes = b.kind == "sorter" ? b.sort.input_bytes : b.items * b.item_bytes;
  s.granted_bytes = b.granted_bytes;
  s.used_bytes = b.sort.peak_memory_bytes;
  if (b.kind == "sorter") s.note = sort_note(b.sort);
  for (network_report const& n : b.sort.networks)
    for (auto const& part : n.stages) s.busy_seconds += part.busy_seconds;
  return s;
}

}  // namespace

std::size_t graph_report::store_count() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count(boundaries, std::string("store"), &boundary::kind));
}

pipeline::network_report graph_report::picture() const {
  network_report all;
  all.name = name;
  all.threads = threads;
  all.has_run = !phases.empty();
  all.seconds = seconds;
  std::vector<std::size_t> first;  // stage of each phase
  for (std::size_t p = 0; p < phases.size(); ++p) {
    first.push_back(all.stages.size());
    if (p == 0) {
      all.begin_ns = phases[p].begin_ns;
      all.memory = phases[p].memory;
    }
    for (auto s : phases[p].stages) {
      s.cluster = fmt::format("phase {}, {:.2f} s", p + 1, phases[p].seconds);
      all.stages.push_back(std::move(s));
    }
  }
  auto const index_of = [&](place const& where) { return first[where.phase - 1] + where.stage; };
  for (std::size_t p = 0; p < phases.size(); ++p)
    for (auto const& c : phases[p].connections)
      if (!c.from_pool && c.to < phases[p].stages.size())
        all.connections.push_back({false, first[p] + c.from, first[p] + c.to});
  for (boundary const& b : boundaries) {
    if (b.kind == "channel" || b.from.phase == 0) continue;
    std::size_t const here = all.stages.size();
    all.connections.push_back({false, index_of(b.from), here});
    if (b.to.phase != 0) all.connections.push_back({false, here, index_of(b.to)});
    all.stages.push_back(stage_of(b));
  }
  return all;
}

std::string graph_report::chrome_trace() const {
  std::vector<network_report> networks = phases;
  for (boundary const& b : boundaries)
    networks.insert(networks.end(), b.sort.networks.begin(), b.sort.networks.end());
  return pipeline::chrome_trace(networks, io::timeline());
}

std::string graph_report::html() const {
  pipeline::run_page page{.title = name};
  page.facts = {{"time", fmt::format("{:.2f} s", seconds)},
                {"phases", fmt::format("{}", phases.size())},
                {"threads", fmt::format("{}", threads)},
                {"came into segments", format_bytes(moved_bytes)}};
  page.networks = {picture()};
  page.load = load;
  page.volumes = {{"blocks on disks", predicted_disk_bytes, disk_bytes},
                  {"files", predicted_file_bytes, file_bytes}};
  return page.html();
}

std::string graph_report::explain() const {
  std::string text = picture().explain() + "\n";
  for (boundary const& b : boundaries) {
    text += fmt::format("{} '{}': {} items", b.kind, b.name, b.items);
    if (b.kind == "sorter")
      text += fmt::format(", {} of {} of memory, {}", format_bytes(b.sort.peak_memory_bytes),
                          format_bytes(b.granted_bytes), sort_note(b.sort));
    if (b.spilled_items > 0) text += fmt::format(", {} kept on disk", b.spilled_items);
    text += "\n";
  }
  return text;
}

}  // namespace outsize::stream
