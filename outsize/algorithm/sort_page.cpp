// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/sort_page.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <outsize/base/units.hpp>

namespace outsize {
namespace {

struct stage_name {
  std::string_view inside;
  std::string_view outside;
};

/// The caller fills chunks while it reads its input, and writes the windows that it gets.
constexpr std::array stage_names{
    stage_name{"producer", "read input"}, stage_name{"spill", "write runs"},
    stage_name{"written", "wait for runs"}, stage_name{"consumer", "write output"}};

std::string runs_of(sort_report const& r) {
  if (r.runs == 0) return "none: nothing had to go to disk";
  std::string text = fmt::format("{} of {} items, {} on disk", r.runs, r.run_items,
                                 format_bytes(r.run_disk_bytes));
  if (r.encoded_runs > 0) text += fmt::format(", {} encoded", r.encoded_runs);
  if (r.output_over_runs) text += ", in the file of the output";
  return text;
}

std::string passes_of(sort_report const& r) {
  std::string text = fmt::format("{}", r.passes);
  if (r.merges > 0)
    text += fmt::format(", {} merge{} before the last", r.merges, r.merges == 1 ? "" : "s");
  return text;
}

}  // namespace

std::vector<pipeline::network_report> sort_networks(sort_report const& report) {
  auto networks = report.networks;
  for (auto& network : networks) {
    for (auto& stage : network.stages) {
      auto const known = std::ranges::find(stage_names, stage.name, &stage_name::inside);
      if (known != stage_names.end()) stage.name = known->outside;
    }
  }
  return networks;
}

pipeline::run_page page_of(sort_report const& report, std::string title) {
  pipeline::run_page page{.title = std::move(title)};
  auto& facts = page.facts;
  auto const add_bytes = [&](char const* name, std::uint64_t bytes) {
    if (bytes > 0) facts.emplace_back(name, format_bytes(bytes));
  };
  facts.emplace_back("items", fmt::format("{}", report.items));
  if (report.output_items != report.items)
    facts.emplace_back("items written", fmt::format("{}", report.output_items));
  add_bytes("length of the items", report.input_bytes);
  facts.emplace_back("runs", runs_of(report));
  facts.emplace_back("passes", passes_of(report));
  if (report.fan_in > 0)
    facts.emplace_back("runs merged at once, at most", fmt::format("{}", report.fan_in));
  add_bytes("block", report.block_bytes);
  add_bytes("memory allowed", report.memory_bytes);
  add_bytes("memory used, at most", report.peak_memory_bytes);
  add_bytes("disk used, at most", report.peak_disk_bytes);
  page.networks = sort_networks(report);
  return page;
}

}  // namespace outsize
