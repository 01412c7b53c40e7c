// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/sort_trace.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace outsize::tool {
namespace {

struct stage_name {
  std::string_view inside;
  std::string_view outside;
};

/// The caller fills chunks while it reads its input, and writes the windows that it gets.
constexpr std::array stage_names{
    stage_name{"producer", "read input"}, stage_name{"spill", "write runs"},
    stage_name{"written", "wait for runs"}, stage_name{"consumer", "write output"}};

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

nlohmann::ordered_json sort_networks_json(sort_report const& report) {
  auto all = nlohmann::ordered_json::array();
  for (auto const& network : sort_networks(report)) {
    auto stages = nlohmann::ordered_json::array();
    for (auto const& stage : network.stages) {
      stages.push_back({{"name", stage.name},
                        {"busy_seconds", stage.busy_seconds},
                        {"wait_seconds", stage.input_wait_seconds + stage.other_wait_seconds}});
    }
    all.push_back({{"name", network.name}, {"seconds", network.seconds}, {"stages", stages}});
  }
  return all;
}

void sort_trace::write(sort_report const& report) {
  file_.write(pipeline::chrome_trace(sort_networks(report), io_));
  file_.close();
}

}  // namespace outsize::tool
